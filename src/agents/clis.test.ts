/** Every agent program with a row of its own: what its recorded streams tell, and the one exam. */
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Move, type Question, type Refusal, sitAgentExam } from '../../test/exams/agent-exam.ts';
import type { ProviderErrorKind } from '../core/index.ts';
import type { AgentCall, AgentEvent } from '../engine/index.ts';
import { cliAgent } from './cli.ts';
import { CLIS, type CliKind } from './clis.ts';
import type { StreamReader, Told } from './stream.ts';

const FIXTURES = fileURLToPath(new URL('../../test/fixtures/agents/', import.meta.url));
const puppet = fileURLToPath(new URL('../../test/exams/puppet.mjs', import.meta.url));
const DONE = 'All done.\n\n<promise>COMPLETE</promise>';
const RESETS_AT = 4_102_444_800_000;

interface Speech {
  /** The folder of its recorded streams. */
  recorded: string;
  /** How a run that found no way ended, by the name of the recording. */
  ends: Record<string, ProviderErrorKind>;
  /** Recordings whose error comes again and again until holding on is pointless. */
  hopeless: string[];
  usage: Partial<Told['usage']>;
  /** The part of a recording that tells a refusal once; `last`: without the tries before the last one. */
  refusal: 'whole' | 'first' | 'last';
  /** A line that repeats the prompt; null: it repeats none. */
  echo: string | null;
  /** False: it tells no exit code of a command that failed. */
  exitCodes?: false;
  /** Errors that its stream can tell; the others it waits for without a word. Default: all. */
  refuses?: readonly Refusal[];
  /** Why it cannot be asked this. */
  skips?: Partial<Record<Question, string>>;
}

const SPEECHES: Record<CliKind, Speech> = {
  codex: {
    recorded: 'codex-0.171.0',
    refusal: 'last',
    ends: {
      'limit-now': 'limit',
      'limit-with-reset': 'limit',
      auth: 'auth',
      overload: 'overload',
      billing: 'billing',
      'prompt-too-long': 'prompt_too_long',
      network: 'network',
      'broken-off': 'network',
    },
    hopeless: ['auth'],
    usage: { inputTokens: 3100, outputTokens: 140, model: 'gpt-5.5' },
    echo: '{"method":"item/completed","params":{"item":{"type":"userMessage","id":"u","clientId":"c","content":[{"type":"text","text":"{{prompt}}"}]},"threadId":"t","turnId":"x"}}',
  },
  opencode: {
    recorded: 'opencode-1.18.33',
    refusal: 'first',
    ends: {
      'limit-now': 'limit',
      'limit-with-reset': 'limit',
      auth: 'auth',
      overload: 'overload',
      billing: 'billing',
      'prompt-too-long': 'prompt_too_long',
      'broken-off': 'network',
    },
    hopeless: ['prompt-too-long', 'limit-now', 'limit-with-reset', 'billing', 'broken-off'],
    usage: { inputTokens: 3100, outputTokens: 140, model: null },
    echo: null,
    skips: { 'reset time': 'it waits for that time without a word' },
  },
  pi: {
    recorded: 'pi-0.73.1',
    refusal: 'whole',
    ends: {
      'limit-now': 'limit',
      'limit-with-reset': 'limit',
      auth: 'auth',
      overload: 'overload',
      billing: 'billing',
      'prompt-too-long': 'prompt_too_long',
      network: 'network',
    },
    hopeless: ['billing'],
    usage: { inputTokens: 3100, outputTokens: 140, model: 'scripted-model' },
    echo: '{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"{{prompt}}"}]}}',
    skips: { 'reset time': 'it tells the first sentence of the provider, which names none' },
  },
  gemini: {
    recorded: 'gemini-0.61.0',
    exitCodes: false,
    refuses: ['auth', 'prompt_too_long'],
    refusal: 'whole',
    ends: { auth: 'auth', 'prompt-too-long': 'prompt_too_long' },
    hopeless: [],
    usage: { inputTokens: 3100, outputTokens: 140, costUsd: 0.005275, model: 'gemini-2.5-pro' },
    echo: '{"type":"message","role":"user","content":"{{prompt}}"}',
    skips: { 'reset time': 'it waits for that time without a word' },
  },
  qwen: {
    recorded: 'qwen-0.15.10',
    refuses: ['auth', 'prompt_too_long'],
    refusal: 'whole',
    ends: { auth: 'auth', 'prompt-too-long': 'prompt_too_long' },
    hopeless: [],
    usage: { inputTokens: 3100, outputTokens: 140, costUsd: null, model: 'scripted-model' },
    echo: null,
    exitCodes: false,
    skips: { 'reset time': 'it waits for that time without a word' },
  },
  copilot: {
    recorded: 'copilot-1.0.102',
    refuses: ['auth', 'prompt_too_long', 'overload'],
    refusal: 'whole',
    ends: { auth: 'auth', 'prompt-too-long': 'prompt_too_long' },
    hopeless: ['billing'],
    usage: { inputTokens: 0, outputTokens: 0, costUsd: null, model: 'scripted-model' },
    echo: '{"type":"user.message","data":{"content":"{{prompt}}"}}',
    skips: { 'reset time': 'it tells none' },
  },
};
const KINDS = Object.keys(CLIS) as CliKind[];

function lines(kind: CliKind, name: string, ending = 'jsonl'): string[] {
  const path = join(FIXTURES, SPEECHES[kind].recorded, `${name}.${ending}`);
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
}
const recordings = (kind: CliKind): string[] =>
  readdirSync(join(FIXTURES, SPEECHES[kind].recorded))
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => file.replace('.jsonl', ''));

function read(kind: CliKind, out: string[], err: string[] = []) {
  const reader: StreamReader = CLIS[kind].read({ cwd: '/home/dev/repo' } as AgentCall);
  const events: AgentEvent[] = out.flatMap((line) => reader.line(line));
  for (const line of err) events.push(...(reader.complaint?.(line) ?? []));
  return { told: reader.told(), events, reader };
}
const readScene = (kind: CliKind, name: string) => read(kind, lines(kind, name), lines(kind, name, 'stderr'));

const coded = (kind: CliKind, code: number) => (SPEECHES[kind].exitCodes === false ? null : code);

it('Codex tells that a subscription pays where its account has a plan', () => {
  const recorded = lines('codex', 'success');
  expect(read('codex', recorded, []).told.usage.byPlan).toBeUndefined();
  const planned = recorded.map((line) => line.replace('"planType":null', '"planType":"plus"'));
  expect(planned).not.toEqual(recorded);
  const { told, events } = read('codex', planned, []);
  expect(told.usage).toMatchObject({ byPlan: true, costUsd: expect.any(Number) });
  expect(events.findLast((event) => event.kind === 'usage')).toMatchObject({ byPlan: true });
});

describe.each(KINDS)('a recorded run of %s', (kind) => {
  const speech = SPEECHES[kind];

  it('tells its session, files, commands and tokens', () => {
    const { told, events, reader } = readScene(kind, 'success');
    expect(told).toMatchObject({
      closed: true,
      error: null,
      finalMessage: DONE,
      toolCalls: 2,
      toolFiles: ['/home/dev/repo/hello.txt'],
      commands: [
        {
          command: 'git add -A && git commit -qm "Add hello"',
          exitCode: 0,
          denied: false,
        },
      ],
      usage: speech.usage,
    });
    expect(told.sessionId).toMatch(/^[\w-]{20,}$/);
    // Told by the agent, and not reckoned by the price table.
    const { costUsd, costFrom } = told.usage;
    expect(costUsd !== null && costFrom === undefined).toBe(CLIS[kind].capabilities.cost);
    expect(events.filter((event) => event.kind === 'tool')).toHaveLength(2);
    if (CLIS[kind].capabilities.tokens)
      expect(events.findLast((event) => event.kind === 'usage')).toMatchObject({
        kind: 'usage',
        inputTokens: speech.usage.inputTokens,
      });
    expect(reader.leaving()).toBe('yes');
  });

  it('tells the exit code of each command', () => {
    const { told } = readScene(kind, 'command-fails');
    expect(told.commands).toEqual([
      { command: 'echo broken >&2; exit 3', exitCode: coded(kind, 3), denied: false },
      { command: 'exit 0', exitCode: 0, denied: false },
    ]);
  });

  it('gets over a stream that was cut off once', () => {
    expect(readScene(kind, 'cut-off').told).toMatchObject({ error: null, trouble: null, finalMessage: DONE });
  });

  it.each(Object.entries(speech.ends))('%s ends with an error of kind %s', (name, error) => {
    const { told } = readScene(kind, name);
    const cause = told.error ?? told.trouble;
    const resetsAt = name === 'limit-with-reset' && speech.skips?.['reset time'] === undefined;
    expect(cause).toMatchObject({ kind: error });
    expect(told.error !== null || told.closed !== true).toBe(true);
    if (!resetsAt) expect(cause?.resetsAt).toBeNull();
    // A minute is the least that a sentence names, and the end of it is waited for.
    else expect(Math.abs((cause?.resetsAt ?? 0) - RESETS_AT)).toBeLessThanOrEqual(14 * 3_600_000);
  });

  it('is hopeless where it would go on for ever, and nowhere else', () => {
    const hopeless = recordings(kind).filter((name) => readScene(kind, name).reader.hopeless() !== null);
    expect(hopeless.sort()).toEqual([...speech.hopeless].sort());
  });

  it('that was ended in the middle of a command has no closing event', () => {
    expect(readScene(kind, 'interrupted').told).toMatchObject({ closed: false, error: null });
  });

  it('knows every event that was recorded', () => {
    for (const name of recordings(kind)) {
      expect([name, readScene(kind, name).told.unknownEvents]).toEqual([name, 0]);
    }
  });

  it('never makes its reader throw, cut or damaged anywhere', () => {
    const all = recordings(kind).flatMap((name) => lines(kind, name));
    fc.assert(
      fc.property(fc.constantFrom(...all), fc.nat(), fc.string(), (text, cut, junk) => {
        const at = cut % (text.length + 1);
        read(kind, [text.slice(0, at), text.slice(0, at) + junk + text.slice(at)]);
      }),
    );
  });

  it('never makes its reader throw, whatever stands in an event', () => {
    const events = [...new Set(recordings(kind).flatMap((name) => lines(kind, name)))]
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const keys = [...new Set(events.flatMap((event) => [event, ...Object.values(event)]).flatMap(keysOf))];
    const field = fc.dictionary(fc.constantFrom(...keys, '__proto__'), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...events), field, field)), (rows) => {
        const { told } = read(
          kind,
          rows.map(([event, over, inner]) => JSON.stringify({ ...event, ...wrapped(event, inner), ...over })),
        );
        expect(told.usage.inputTokens).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 200 },
    );
  });
});

const keysOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.keys(value) : [];
/** The event with other things inside its objects. */
const wrapped = (event: Record<string, unknown>, inner: object): object =>
  Object.fromEntries(
    Object.entries(event)
      .filter(([, value]) => keysOf(value).length > 0)
      .map(([key, value]) => [key, { ...(value as object), ...inner }]),
  );

/** Answers that were told in pieces, which are cut anywhere, each as one piece. */
function inWhole(recorded: string[]): string[] {
  const whole: string[] = [];
  for (const line of recorded) {
    const [last, next] = [whole.at(-1) ?? '', line].map((text) =>
      /^(.*"content":")(.*)(","delta":true})$/.exec(text),
    );
    if (last && next) whole.splice(-1, 1, `${last[1]}${last[2]}${next[2]}${next[3]}`);
    else whole.push(line);
  }
  return whole;
}

/** The recorded end of a good run with other words in it. */
function saying(kind: CliKind, words: string): string[] {
  const was = JSON.stringify(DONE).slice(1, -1);
  const now = JSON.stringify(words).slice(1, -1);
  return inWhole(lines(kind, 'success')).map((line) => line.replaceAll(was, () => now));
}

/** A refusal told once, so that nothing of it is hopeless: the whole recording, or a part of it. */
function refusing(kind: CliKind, name: string): object[] {
  const out = lines(kind, name);
  const part = {
    whole: out,
    first: out.slice(0, 1),
    last: out.filter((line, at) => at === out.length - 1 || !line.includes('"willRetry":true')),
  };
  const err = lines(kind, name, 'stderr').filter((line) => /stream error.*small=false/.test(line));
  return [
    ...part[SPEECHES[kind].refusal].map((line) => ({ out: `${line}\n` })),
    ...err.slice(0, 1).map((line) => ({ err: `${line}\n` })),
  ];
}

function stepsOf(kind: CliKind, move: Move): object[] {
  const text = (words: string) => saying(kind, words).join('\n');
  if ('say' in move) return [{ out: `${text(move.say)}\n` }];
  if ('sayUnended' in move) return [{ out: text(move.sayUnended) }];
  if ('giant' in move) return [{ giant: move.giant }, { out: '\n' }];
  if ('complain' in move) return [{ err: move.complain }];
  if ('ignoreSigterm' in move) return [{ trap: true }];
  if ('unknownEvent' in move) return [{ out: '{"type":"brand_new_event","subtype":"x"}\n' }];
  if ('breakOff' in move) return [{ out: `${saying(kind, move.breakOff).slice(0, -1).join('\n')}\n` }];
  if ('echoPrompt' in move) return [{ out: `${SPEECHES[kind].echo}\n` }];
  if ('refuse' in move) {
    const limit = move.resetsAt === undefined ? 'limit-now' : 'limit-with-reset';
    const names = { auth: 'auth', overload: 'overload', prompt_too_long: 'prompt-too-long', limit };
    return refusing(kind, names[move.refuse]);
  }
  if ('sayInPieces' in move) {
    const bytes = Buffer.from(`${text(move.sayInPieces)}\n`);
    const cut = bytes.indexOf(Buffer.from('漢')) + 1;
    const part = (from: number, to: number) => ({ bytes: bytes.subarray(from, to).toString('base64') });
    return [part(0, cut), { pause: 100 }, part(cut, bytes.length)];
  }
  return [move];
}

for (const kind of KINDS) {
  const { echo, refuses, skips = {} } = SPEECHES[kind];
  sitAgentExam({
    name: kind,
    agent(moves, home) {
      const steps = join(home, 'steps.json');
      writeFileSync(steps, JSON.stringify(moves.flatMap((move) => stepsOf(kind, move))));
      const program = join(home, CLIS[kind].program);
      writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${puppet}' '${steps}' "$@"\n`);
      chmodSync(program, 0o755);
      return cliAgent(CLIS[kind], { name: kind });
    },
    ...(refuses === undefined ? {} : { refuses }),
    skips: echo === null ? { echo: 'it repeats no prompt', ...skips } : skips,
  });
}
