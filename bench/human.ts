/**
 * How long a person's word takes: from the signal that is renamed into place to what it does. These are
 * waits, so they are told in wall time; the machine's own pauses show in the 99th percentile.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { removeFolder } from '../test/remove-folder.ts';
import { type Missing, median, type Row, type Scale, statMs } from './measure.ts';

const PROGRAM = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'ralph.js');

export async function humanRows({ quick }: Scale): Promise<(Row | Missing)[]> {
  if (!existsSync(PROGRAM)) return [{ name: 'a word to its effect', missing: 'dist/ralph.js is not built' }];
  return [
    ...(await waitingRows(quick)),
    ...(await stopRows(quick)),
    ...(await floodRows(quick ? 200 : 10_000)),
  ];
}

/** A loop on a small repository, and its journal as it grows. */
interface Loop {
  root: string;
  child: ChildProcess;
  session: string;
  /** When a line with this text was seen, in ms of the process's clock; looks from `from`, bytes. */
  seen(text: string, from: number): Promise<number>;
  /** Bytes of the journal so far. */
  size(): number;
  end(): Promise<void>;
}

const PATIENCE_MS = 60_000;

async function startLoop(agent: string, args: string[] = []): Promise<Loop> {
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-'));
  const git = (...words: string[]) => spawnSync('git', words, { cwd: root });
  git('init', '-q');
  git('config', 'user.name', 'bench');
  git('config', 'user.email', 'bench@localhost');
  writeFileSync(join(root, 'agent.sh'), agent);
  writeFileSync(join(root, 'ralph.yml'), 'agent: mine\nagents: { mine: { command: [sh, agent.sh] } }\n');
  writeFileSync(join(root, 'PRD.md'), '# Plan\n\n- [ ] one task\n');
  git('add', '-A');
  git('commit', '-q', '-m', 'set up');
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(
    process.execPath,
    [PROGRAM, 'run', '--wait', '-n', '1000', '--max-stuck', '0', '--quiet', ...args],
    {
      ...{ cwd: root, env, stdio: 'ignore' },
    },
  );
  const folder = join(root, '.ralph-sessions');
  const session = await until(() => {
    const id = existsSync(folder) ? readdirSync(folder).find((name) => /^\d{6}-\d{6}/.test(name)) : undefined;
    return id !== undefined && existsSync(join(folder, id, 'journal.jsonl')) ? join(folder, id) : null;
  });
  const journal = join(session, 'journal.jsonl');
  const text = () => readFileSync(journal, 'utf8');
  return {
    root,
    child,
    session,
    size: () => text().length,
    seen: (wanted, from) =>
      new Promise((resolve, reject) => {
        const done = (at: number | null) => {
          watcher.close();
          clearTimeout(clock);
          if (at === null) reject(new Error(`the journal never said ${wanted}`));
          else resolve(at);
        };
        const look = () => {
          if (text().includes(wanted, from)) done(performance.now());
        };
        const watcher = watch(journal, look);
        const clock = setTimeout(() => done(null), PATIENCE_MS);
        look();
      }),
    async end() {
      child.kill('SIGKILL');
      await sleep(50);
      removeFolder(root);
    },
  };
}

async function until<T>(look: () => T | null): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(5)) {
    const found = look();
    if (found !== null) return found;
  }
  throw new Error('what the benchmark waits for never came');
}

let drops = 0;

/** Renames a signal into place; answers its name and when it lay there. */
function drop(session: string, fields: Record<string, string>): { name: string; at: number } {
  drops += 1;
  const inputs = join(session, 'signals', 'inputs');
  mkdirSync(inputs, { recursive: true });
  const name = `signal.bench-${String(drops).padStart(6, '0')}.yaml`;
  const lines = Object.entries({ created_at: new Date().toISOString(), ...fields });
  writeFileSync(join(session, `${name}.tmp`), lines.map(([key, value]) => `${key}: ${value}\n`).join(''));
  renameSync(join(session, `${name}.tmp`), join(inputs, name));
  return { name, at: performance.now() };
}

const ASKS = `cat > /dev/null
echo '<promise>DECIDE:left or right?</promise>'
`;

/** A loop that waits for an answer: guidance and answers, and what the waiting costs. */
export async function waitingRows(quick: boolean): Promise<Row[]> {
  const loop = await startLoop(ASKS);
  try {
    await loop.seen('"question.asked"', 0);
    await sleep(500);
    const heard: number[] = [];
    for (let n = 0; n < (quick ? 3 : 200); n++) {
      const from = loop.size();
      const { name, at } = drop(loop.session, { type: 'INFO', message: `note ${n}` });
      heard.push((await loop.seen(name, from)) - at);
      await sleep(5);
    }
    const before = statMs(readFileSync(`/proc/${loop.child.pid}/stat`, 'utf8'));
    const began = performance.now();
    await sleep(quick ? 200 : 10_000);
    const after = statMs(readFileSync(`/proc/${loop.child.pid}/stat`, 'utf8'));
    const spent = after.own + after.ended - before.own - before.ended;
    const share = (100 * spent) / (performance.now() - began);
    const answered: number[] = [];
    for (let n = 0; n < (quick ? 2 : 40); n++) {
      const from = loop.size();
      const { at } = drop(loop.session, { type: 'ANSWER', message: 'left' });
      answered.push((await loop.seen('"question.answered"', from)) - at);
      // A word that lies there before its wave has ended could be the agent's own.
      await loop.seen('"wave.ended"', from);
      await sleep(50);
    }
    return [
      ...percentiles('guidance to a waiting loop', heard),
      ...percentiles('an answer to a loop that goes on', answered),
      { name: 'a waiting loop, of one processor', value: share, unit: '%', most: 1, note: 'nothing arrives' },
    ];
  } finally {
    await loop.end();
  }
}

function percentiles(name: string, values: number[]): Row[] {
  const sorted = values.toSorted((a, b) => a - b);
  const late = sorted[Math.ceil(sorted.length * 0.99) - 1]!;
  const note = `wall time, ${values.length} times`;
  return [
    { name: `${name}, half of them within`, value: median(values), unit: 'ms', most: 50, note },
    { name: `${name}, 99 of 100 within`, value: late, unit: 'ms', most: 250, note },
  ];
}

const SLEEPS = `cat > /dev/null
echo $$ > "$RALPH_SESSION_DIR/agent.pid"
exec sleep 600
`;
const DEAF = `cat > /dev/null
trap '' TERM INT HUP
echo $$ > "$RALPH_SESSION_DIR/agent.pid"
while :; do sleep 1; done
`;

async function stopRows(quick: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [type, agent, name, most] of [
    ['ABORT', SLEEPS, 'ABORT to the agent stopped', 2000],
    ['PAUSE', SLEEPS, 'PAUSE to an agent stopped that cannot be told', 2000],
    ['ABORT', DEAF, 'ABORT to an agent stopped that ignores SIGTERM', 7000],
  ] as const) {
    const waits: number[] = [];
    for (let n = 0; n < (quick || agent === DEAF ? 1 : 5); n++) waits.push(await stopOnce(type, agent));
    rows.push({
      name,
      value: Math.max(...waits),
      unit: 'ms',
      most,
      note: `wall time, the worst of ${waits.length}`,
    });
  }
  return rows;
}

async function stopOnce(type: string, agent: string): Promise<number> {
  const loop = await startLoop(agent);
  try {
    const file = join(loop.session, 'agent.pid');
    const pid = await until(() => (existsSync(file) ? readFileSync(file, 'utf8').trim() || null : null));
    await sleep(300);
    const { at } = drop(loop.session, { type, message: 'enough' });
    await until(() => (isThere(pid) ? null : true));
    return performance.now() - at;
  } finally {
    await loop.end();
  }
}

/** A process that only waits to be collected has stopped. */
function isThere(pid: string): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

export async function floodRows(many: number): Promise<Row[]> {
  const loop = await startLoop(ASKS);
  try {
    await loop.seen('"question.asked"', 0);
    await sleep(300);
    const inputs = join(loop.session, 'signals', 'inputs');
    mkdirSync(inputs, { recursive: true });
    const heap = join(loop.session, 'heap');
    mkdirSync(heap);
    const at = new Date().toISOString();
    const names = Array.from({ length: many }, (_, n) => `signal.flood-${String(n).padStart(6, '0')}.yaml`);
    for (const name of names)
      writeFileSync(join(heap, name), `type: INFO\nmessage: ${name}\ncreated_at: ${at}\n`);
    const began = performance.now();
    for (const name of names) renameSync(join(heap, name), join(inputs, name));
    await until(() => (readdirSync(inputs).length === 0 ? true : null));
    const seconds = (performance.now() - began) / 1000;
    const received = [
      ...readFileSync(join(loop.session, 'journal.jsonl'), 'utf8').matchAll(
        /"id":"(signal\.flood-\d+\.yaml)"/g,
      ),
    ];
    const once = new Set(received.map(([, name]) => name)).size;
    if (received.length !== many || once !== many)
      throw new Error(`${many} signals, ${received.length} heard, ${once} different ones`);
    const name = `${many.toLocaleString('en-US')} signals at once, each heard once`;
    return [{ name, value: seconds, unit: 's', most: 10, note: 'wall time' }];
  } finally {
    await loop.end();
  }
}
