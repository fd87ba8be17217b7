/**
 * What agents cost beside their own work: how fast each adapter reads its stream, and how much sooner a work tree
 * of the pool is ready than one that git makes anew.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readClaude } from '../src/agents/claude-stream.ts';
import { CLIS, type CliKind } from '../src/agents/clis.ts';
import { sieveOf } from '../src/agents/sieve.ts';
import type { StreamReader } from '../src/agents/stream.ts';
import { redactorOf } from '../src/core/index.ts';
import { lineSplitter } from '../src/process/lines.ts';
import { openGround, openPool } from '../src/repo/index.ts';
import { costMs, inTurns, type Row, type Scale } from './measure.ts';
import { makeRepository } from './repository.ts';

const STREAMS = join(dirname(dirname(fileURLToPath(import.meta.url))), 'test', 'fixtures', 'agents');

const READERS: Record<string, () => StreamReader> = {
  claude: readClaude,
  ...Object.fromEntries(
    Object.entries(CLIS).map(([name, cli]) => [name, () => cli.read()] as [CliKind, () => StreamReader]),
  ),
};

/** As much of a stream as a pipe hands over at once. */
const CHUNK = 64 * 1024;
const MB = 1024 * 1024;

/** What a tool prints into the longest event of a run, as where an agent reads a file. */
const PRINTED = 'A line of some file that an agent looked at, and "another" one.\n'.repeat(256);

/** As many secrets as an environment with some services in it has. */
const KNOWN = Array.from({ length: 12 }, (_, index) => ({
  name: `SERVICE_${index}_TOKEN`,
  value: createHash('sha256').update(`token ${index}`).digest('base64url'),
}));

/** The recorded run of each agent, over and over, as one stream that does not end. */
export async function parseRows({ quick }: Scale): Promise<Row[]> {
  const bytes = (quick ? 1 : 64) * MB;
  const rows: Row[] = [];
  for (const folder of readdirSync(STREAMS).sort()) {
    const make = READERS[folder.slice(0, folder.lastIndexOf('-'))];
    if (make === undefined) throw new Error(`nobody reads the streams of ${folder}`);
    const lines = readFileSync(join(STREAMS, folder, 'success.jsonl'), 'utf8')
      .trimEnd()
      .split('\n');
    rows.push(await bareRow(folder, lines, make, bytes / 4), ...(await rateRows(folder, lines, make, bytes)));
    rows.push(await sieveRow(folder, lines, bytes));
  }
  return rows;
}

/** Feeds a stream of these lines; answers how many bytes it was. */
function feeder(lines: string[], take: (line: string) => void): (upTo: number) => number {
  const one = Buffer.from(`${lines.join('\n')}\n`);
  const block = Buffer.concat(Array(Math.ceil(CHUNK / one.length)).fill(one) as Buffer[]);
  const splitter = lineSplitter(16 * MB, take);
  return (upTo) => {
    let fed = 0;
    for (; fed < upTo; fed += block.length) splitter.add(block);
    return fed;
  };
}

function reading(reader: StreamReader): (line: string) => void {
  return (line) => {
    reader.line(line);
    reader.leaving();
    reader.hopeless();
  };
}

async function bareRow(
  folder: string,
  lines: string[],
  make: () => StreamReader,
  bytes: number,
): Promise<Row> {
  const ours = feeder(lines, reading(make()));
  const bare = feeder(lines, (line) => void JSON.parse(line));
  const [read, parsed] = await inTurns(
    5,
    () => ours(bytes / 4),
    () => bare(bytes / 4),
  );
  return {
    name: `${folder}: read, against JSON.parse alone`,
    value: read / parsed,
    unit: 'x',
    most: 2.5,
    note: `as recorded, lines of ${Math.round(lines.join('').length / lines.length)} bytes`,
  };
}

async function rateRows(
  folder: string,
  lines: string[],
  make: () => StreamReader,
  bytes: number,
): Promise<Row[]> {
  const reader = make();
  const feed = feeder(withOutput(lines), reading(reader));
  feed(bytes / 8);
  const before = process.memoryUsage().rss;
  let fed = 0;
  const ms = await costMs(() => {
    fed = feed(bytes);
  });
  if (reader.told().finalMessage === '') throw new Error(`${folder} was not read`);
  return [
    {
      name: `${folder}: read, one file of 16 KB a run`,
      value: fed / MB / (ms / 1000),
      unit: 'MB/s',
      least: 100,
    },
    {
      name: `${folder}: memory that ${Math.round(fed / MB)} MB of it left behind`,
      value: Math.max(0, (process.memoryUsage().rss - before) / MB),
      unit: 'MB',
      most: 64,
    },
  ];
}

/** What its log costs beside that. */
async function sieveRow(folder: string, lines: string[], bytes: number): Promise<Row> {
  const one = Buffer.from(`${withOutput(lines).join('\n')}\n`);
  const stream = Buffer.concat(Array(Math.ceil((4 * CHUNK) / one.length)).fill(one) as Buffer[]);
  const sieve = sieveOf(redactorOf(KNOWN))();
  const feed = (upTo: number) => {
    for (let fed = 0; fed < upTo; fed += CHUNK) {
      const at = fed % (stream.length - CHUNK);
      sieve.add(stream.subarray(at, at + CHUNK));
    }
  };
  feed(bytes / 8);
  const ms = await costMs(() => feed(bytes));
  return {
    name: `${folder}: secrets taken out of its log, ${KNOWN.length} of them known`,
    value: bytes / MB / (ms / 1000),
    unit: 'MB/s',
    least: 150,
  };
}

/** The same run, whose longest event holds what a tool printed. */
function withOutput(lines: string[]): string[] {
  const longest = lines.reduce((most, line) => (line.length > most.length ? line : most));
  let said = '';
  JSON.parse(longest, (_, value: unknown) => {
    if (typeof value === 'string' && value.length > said.length) said = value;
    return value;
  });
  const [short, long] = [said, `${said}\n${PRINTED}`].map((words) => JSON.stringify(words).slice(1, -1));
  return lines.map((line) => (line === longest ? line.replace(short!, () => long!) : line));
}

/** The same commit, checked out in a work tree that the pool has and in one that git makes. */
export async function poolRows({ quick }: Scale): Promise<Row[]> {
  const files = quick ? 300 : 10_000;
  const root = makeRepository(files);
  try {
    const ground = await openGround({
      cwd: root,
      privateDir: join(root, '.git', 'bench'),
      sessionId: 'bench',
      excluded: [],
      useGit: true,
    });
    const folder = `${root}-pool`;
    const pool = openPool({ ground, folder, copy: [], made: () => Promise.resolve() })!;
    const mark = { ...(await ground.snapshot()), ...(await ground.head()) };
    await pool.fill('bench-1', mark);
    let round = 0;
    const [pooled, made] = await inTurns(
      quick ? 1 : 8,
      async () => {
        round += 1;
        writeFileSync(join(folder, 'bench-1', `left-${round}.txt`), 'of the attempt before\n');
        await pool.fill('bench-1', mark);
      },
      () => git(root, ['worktree', 'add', '-q', '--detach', join(folder, `made-${round}`), 'HEAD']),
    );
    await pool.close();
    rmSync(folder, { recursive: true, force: true });
    const many = files.toLocaleString('en-US');
    const name = `git worktree add, against a work tree of the pool, ${many} files`;
    return [{ name, value: made / pooled, unit: 'x', least: 3 }];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function git(cwd: string, args: string[]): void {
  const { status, stderr } = spawnSync('git', args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
}
