import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mayPublish as readerMayPublish, readOutboxLine } from '../core/index.ts';
import { mayPublish } from './emit.ts';

const here = dirname(fileURLToPath(import.meta.url));
const entry = join(here, 'index.ts');
let folder: string;
let outbox: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ralph-agentside-'));
  outbox = join(folder, 'outbox.jsonl');
  writeFileSync(outbox, '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the agent's side in a process of its own, with exactly this environment beside PATH. */
async function ralph(args: string[], env: Record<string, string> = {}): Promise<Outcome> {
  const [outcome] = await ralphEach([args], env);
  return outcome!;
}

/** As `ralph`, for several commands one after the other in one process: starting one is what takes long. */
function ralphEach(commands: string[][], env: Record<string, string> = {}): Promise<Outcome[]> {
  const program = `import { runAgentside } from ${JSON.stringify(entry)};
for (const command of JSON.parse(process.argv[1])) {
  const code = await runAgentside(command);
  process.stdout.write('\\0' + code + '\\0');
  process.stderr.write('\\0');
}`;
  const attempt = { RALPH_OUTBOX: outbox, RALPH_RUN_TOKEN: 'live' };
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', program, '--', JSON.stringify(commands)],
      { env: { PATH: process.env.PATH ?? '', ...attempt, ...env }, timeout: 25_000, cwd: here },
      (error, stdout, stderr) => {
        if (error !== null) return reject(error);
        const said = stdout.split('\0');
        const complained = stderr.split('\0');
        resolve(
          commands.map((_, i) => ({
            code: Number(said[2 * i + 1]),
            stdout: said[2 * i] ?? '',
            stderr: complained[i] ?? '',
          })),
        );
      },
    );
  });
}

const heard = () =>
  readFileSync(outbox, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => readOutboxLine(line, { verify: (token) => token === 'live' }));

describe('ralph emit', () => {
  it('publishes a topic with the live token and says so', async () => {
    const done = await ralph(['emit', 'build.done', 'All tests pass,\nall "three" of them\u2028ok']);
    expect(done).toMatchObject({ code: 0, stdout: 'Published build.done.\n', stderr: '' });
    expect(heard()).toEqual([
      { kind: 'topic', topic: 'build.done', payload: 'All tests pass,\nall "three" of them\u2028ok' },
    ]);
  });

  it('reports a result object', async () => {
    const result = JSON.stringify({ status: 'completed', summary: 'ok' });
    const command = ['emit', 'ralph.result', result];
    const codes = (await ralphEach([[...command, '--payload-json'], command])).map(({ code }) => code);
    expect(codes).toEqual([0, 0]);
    expect(heard()).toMatchObject([
      { kind: 'result', result: { status: 'completed' } },
      { kind: 'result', result: { summary: 'ok' } },
    ]);
  });

  it('outside an attempt it fails and says what to use instead', async () => {
    const failed = await ralph(['emit', 'x'], { RALPH_OUTBOX: '', RALPH_RUN_TOKEN: '' });
    expect(failed.code).toBe(5);
    expect(failed.stderr).toContain('not inside an attempt');
    expect(failed.stderr).toContain('RALPH_OUTBOX and RALPH_RUN_TOKEN not set');
    expect(failed.stderr).toContain('ralph answer');
  });

  it('a topic outside publishes is refused with the list, and the refusal is recorded', async () => {
    const env = { RALPH_PUBLISHES: 'build.*, review.done' };
    const failed = await ralph(['emit', 'deploy.now', 'go'], env);
    expect(failed).toMatchObject({ code: 5, stdout: '' });
    expect(failed.stderr).toContain('build.*, review.done');
    expect((await ralph(['emit', 'build.done'], env)).code).toBe(0);
    expect(heard()).toEqual([
      { kind: 'unlisted', topic: 'deploy.now', payload: 'go' },
      { kind: 'topic', topic: 'build.done', payload: '' },
    ]);
  });

  it('a torn line before it does not swallow it', async () => {
    writeFileSync(outbox, '{"topic":"half');
    await ralph(['emit', 'build.done']);
    expect(heard().map(({ kind }) => kind)).toEqual(['unreadable', 'topic']);
  });

  it('parallel calls keep their lines apart', async () => {
    const text = 'x'.repeat(30_000);
    const commands = Array.from({ length: 10 }, (_, i) => ['emit', `part.${i}`, text]);
    await Promise.all([
      ralphEach(commands.slice(0, 4)),
      ralphEach(commands.slice(4, 7)),
      ralphEach(commands.slice(7)),
    ]);
    const lines = heard();
    expect(lines).toHaveLength(10);
    for (const line of lines) expect(line).toMatchObject({ kind: 'topic', payload: text });
  });

  it('what can be known to be wrong is refused and writes nothing', async () => {
    const cases: [string[], string][] = [
      [[], 'No topic'],
      [['two words'], 'is not a topic'],
      [['ralph.shutdown'], 'reserved'],
      [['x', '{', '--payload-json'], 'not JSON'],
      [['x', 'y', '--payload'], 'Did you mean --payload-json?'],
      [['ralph.result', 'done'], 'no result'],
      [['human.interact'], 'needs a text'],
      [['x', 'é'.repeat(40_000)], 'too long'],
    ];
    const outcomes = await ralphEach(cases.map(([args]) => ['emit', ...args]));
    for (const [i, { code, stderr }] of outcomes.entries()) {
      expect(code).toBe(5);
      expect(stderr).toContain(cases[i]![1]);
      expect(stderr).toMatch(/why: .*\n {2}fix: /);
    }
    expect(readFileSync(outbox, 'utf8')).toBe('');
  });

  it('an outbox whose folder is gone is a problem with another way out', async () => {
    const failed = await ralph(['emit', 'x'], { RALPH_OUTBOX: join(folder, 'gone', 'outbox.jsonl') });
    expect(failed.code).toBe(5);
    expect(failed.stderr).toContain('last message');
  });
});

describe('ralph tools interact', () => {
  it('tells a person without being bound by publishes', async () => {
    const told = await ralph(['tools', 'interact', 'progress', 'half', 'way'], { RALPH_PUBLISHES: 'a' });
    expect(told).toMatchObject({ code: 0, stdout: 'Told. Go on.\n' });
    expect(heard()).toEqual([{ kind: 'note', text: 'half way', progress: true }]);
  });

  it('an unknown command says what there is', async () => {
    const cases = [
      ['tools'],
      ['tools', 'drill'],
      ['tools', 'interact'],
      ['tools', 'interact', 'progress', ' '],
      ['sing'],
    ];
    for (const { code, stderr } of await ralphEach(cases)) {
      expect(code).toBe(5);
      expect(stderr).toMatch(/why: .*\n {2}fix: /);
    }
  });
});

it('the writer and the reader agree on what a role may publish', () => {
  const part = fc.constantFrom('a', 'b', '*', '');
  const topic = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'));
  fc.assert(
    fc.property(topic, fc.option(fc.array(topic, { maxLength: 3 })), (name, publishes) => {
      expect(mayPublish(name, publishes)).toBe(readerMayPublish(name, publishes));
    }),
  );
});

it('loads nothing but node built-ins and its own files; the MCP library only for `ralph mcp`', () => {
  const files = readdirSync(here).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  for (const file of files) {
    const loads = /^import (?!type ).* from '\.\/mcp(-server)?\.ts'/m;
    if (loads.test(readFileSync(join(here, file), 'utf8'))) expect(file).toBe('mcp.ts');
  }
  for (const file of files.filter((name) => name !== 'mcp-server.ts')) {
    for (const [, from] of readFileSync(join(here, file), 'utf8').matchAll(
      /^(?:import|export) (?!type ).* from '([^']+)'/gm,
    )) {
      expect(from).toMatch(/^(node:|\.\/)/);
    }
  }
});
