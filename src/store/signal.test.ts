import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Message } from '../core/index.ts';
import { readSignal, type SignalReading } from './signal.ts';
import { timeOfName, timeOfText } from './signal-time.ts';

const NOW = Date.UTC(2026, 1, 8, 14, 0);

function read(text: string | Uint8Array, more: { name?: string; timezone?: string } = {}): SignalReading {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  return readSignal({
    name: 'note.yaml',
    bytes,
    mtimeMs: NOW - 5,
    timezone: 'Europe/Berlin',
    now: NOW,
    ...more,
  });
}

function message(text: string | Uint8Array, more: { name?: string; timezone?: string } = {}): Message {
  const reading = read(text, more);
  if (reading.kind !== 'message') throw new Error(`${reading.kind}: ${reading.reason}`);
  return reading.message;
}

describe('a signal', () => {
  it('as the first design page shows it is read', () => {
    const text = `# signal.260208-143000.yaml
type: STEER      # STEER | PAUSE | ABORT | INFO | APPROVE | SKIP
target: ALL      # ALL | Ralph-Executor | Ralph-Orchestrator
message: "Don't use the 'foo' library, it's deprecated. Use 'bar' instead."
iteration: 1     # Optional.
`;
    expect(message(text, { name: 'signal.260208-143000.yaml' })).toEqual({
      id: 'signal.260208-143000.yaml',
      type: 'STEER',
      target: 'ALL',
      text: "Don't use the 'foo' library, it's deprecated. Use 'bar' instead.",
      from: 'file',
      createdAt: Date.UTC(2026, 1, 8, 13, 30),
      confirmed: false,
      iteration: 1,
    });
  });

  it('has its type and target trimmed and in any case, and no target is ALL', () => {
    expect(message('type: " steer "\ntarget: " Ralph-v2-Executor "\nmessage: x')).toMatchObject({
      type: 'STEER',
      target: 'ralph-v2-executor',
    });
    expect(message('type: Info\ntarget: all\nmessage: x').target).toBe('ALL');
    expect(message('type: info\ntarget:\nmessage: x').target).toBe('ALL');
  });

  it('of the old type STOP is an ABORT', () => {
    expect(message('type: stop').type).toBe('ABORT');
  });

  it('may have a byte order mark, CRLF, many lines and any script', () => {
    const text = '\ufefftype: STEER\r\nmessage: |\r\n  Zeile 1 – größer\r\n\r\n  第二行 ✓\r\n';
    expect(message(text).text).toBe('Zeile 1 – größer\n\n第二行 ✓');
  });

  it('keeps texts as they were written, whatever YAML would make of them', () => {
    expect(message('type: STEER\nmessage: 007').text).toBe('007');
    expect(message('type: STEER\nmessage: yes').text).toBe('yes');
    expect(message('type: STEER\nmessage: 2026-02-08').text).toBe('2026-02-08');
  });

  it('carries the further keys', () => {
    const text = `type: ANSWER\nquestion: q-1\noption: B\nfrom: ada\nurgent: yes\nfiles: [a.md, b.md]
op: ADD\ntask: t-1\ntimeout_s: 90\ntimeout_multiplier: 1.5\nreason: because\nmood: good`;
    expect(message(text)).toMatchObject({
      question: 'q-1',
      option: 'B',
      from: 'ada',
      urgent: true,
      files: ['a.md', 'b.md'],
      op: 'add',
      task: 't-1',
      timeoutS: 90,
      timeoutMultiplier: 1.5,
      reason: 'because',
    });
    expect(message('type: APPROVE\nfiles: a.md, b.md').files).toEqual(['a.md', 'b.md']);
  });

  it('is the first document only', () => {
    expect(message('type: PAUSE\n---\ntype: ABORT\n"broken').type).toBe('PAUSE');
  });

  it('may be as long as 64 KB and no longer', () => {
    const long = 'x'.repeat(64 * 1024);
    expect(message(`type: STEER\nmessage: ${long}`).text).toHaveLength(64 * 1024);
    expect(read(`type: STEER\nmessage: ${long}y`)).toMatchObject({ kind: 'rejected' });
  });

  it.each(['PAUSE', 'ABORT', 'APPROVE', 'SKIP', 'RESUME', 'HALT'])('of type %s needs no words', (type) => {
    expect(message(`type: ${type}`).text).toBe('');
  });

  it.each([
    ['STEER without words', 'type: STEER\nmessage: "  "', 'needs a "message"'],
    ['INFO without words', 'type: INFO', 'needs a "message"'],
    ['STEER with null for words', 'type: STEER\nmessage: ~', 'needs a "message"'],
    ['ANSWER without words or option', 'type: ANSWER\nquestion: q', 'needs a "message"'],
    ['an iteration that is no number', 'type: PAUSE\niteration: two', '"iteration"'],
    ['half an iteration', 'type: PAUSE\niteration: 1.5', '"iteration"'],
    ['no type', 'message: hello', '"type" is missing'],
    ['two values where one belongs', 'type: [PAUSE, ABORT]', 'one value'],
    ['a key twice', 'type: PAUSE\ntype: ABORT', 'twice'],
    ['a key twice in another case', 'type: PAUSE\nType: ABORT', 'twice'],
    ['an alias', 'a: &a x\ntype: STEER\nmessage: *a', 'anchors'],
    ['an own tag', 'type: STEER\nmessage: !important now', 'tags'],
    ['a standard tag', 'type: !!str STEER\nmessage: x', 'tags'],
    ['a time limit below zero', 'type: UNBLOCK\ntimeout_s: -1', 'above 0'],
  ])('with %s is rejected and told why', (_name, text, reason) => {
    const reading = read(text);
    expect(reading).toMatchObject({ kind: 'rejected' });
    expect((reading as { reason: string }).reason).toContain(reason);
  });

  it.each([
    ['empty', ''],
    ['blank', ' \n\n'],
    ['only comments', '# later\n'],
    ['a list', '- PAUSE'],
    ['a word', 'PAUSE'],
    ['an open quote', 'type: STEER\nmessage: "half'],
    ['not UTF-8', Buffer.from([0x74, 0xff, 0xfe])],
    ['nested a thousand times', '['.repeat(5000)],
  ])('that is %s may still be in writing', (_name, text) => {
    expect(read(text)).toMatchObject({ kind: 'unreadable' });
  });

  it('of a type nobody knows is told apart from a wrong one', () => {
    const reading = read('type: DANCE\nmessage: x');
    expect(reading).toMatchObject({ kind: 'unknown_type' });
    expect((reading as { reason: string }).reason).toContain('STEER, INFO, PAUSE');
  });

  it('is never the end of the program, whatever its bytes', () => {
    const words = fc.constantFrom(
      'type',
      'STEER',
      ':',
      ' ',
      '\n',
      '  ',
      '&a',
      '*a',
      '!t',
      '|',
      '>',
      '"',
      "'",
      '{',
      '}',
      '[',
      ']',
      '-',
      '---',
      '...',
      '%YAML',
      '#',
      '?',
      ',',
      '\t',
      '\0',
      '\ufeff',
      '~',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc.array(words, { maxLength: 40 }).map((all) => Buffer.from(all.join(''))),
        ),
        (bytes) => {
          expect(['message', 'rejected', 'unreadable', 'unknown_type']).toContain(read(bytes).kind);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('says what its writer said, for every text that a writer may say', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }), (text) => {
        fc.pre(text.trim() !== '' && !/[\r\n]$/.test(text));
        const yaml = stringify({ type: 'STEER', message: text }, { lineWidth: 0 });
        expect(message(yaml).text).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the time of a signal', () => {
  it.each([
    ['signal.260208-143000.yaml', '2026-02-08T13:30:00.000Z'],
    ['signal.20260208-143000.yaml', '2026-02-08T13:30:00.000Z'],
    ['260208-143000.yml', '2026-02-08T13:30:00.000Z'],
    ['signal.260208-143000-042.yaml', '2026-02-08T13:30:00.042Z'],
    ['signal.260208-143000-042-a7f3.yaml', '2026-02-08T13:30:00.042Z'],
    ['signal.260208-143000-7f3a.yaml', '2026-02-08T13:30:00.000Z'],
    ['signal.260208-143000-7342.yaml', '2026-02-08T13:30:00.000Z'],
    ['signal.260208-143000Z.yaml', '2026-02-08T14:30:00.000Z'],
    ['signal.260208-143000+0530.yaml', '2026-02-08T09:00:00.000Z'],
    ['signal.260208-143000-05:00.yaml', '2026-02-08T19:30:00.000Z'],
    ['signal.260708-143000.yaml', '2026-07-08T12:30:00.000Z'],
  ])('is read from the name %s', (name, iso) => {
    expect(new Date(timeOfName(name, 'Europe/Berlin')!).toISOString()).toBe(iso);
  });

  it.each(['stop.yaml', 'signal.260231-143000.yaml', 'signal.260208-250000.yaml', 'x-1234567-143000.yaml'])(
    'is not read from %s',
    (name) => {
      expect(timeOfName(name, 'UTC')).toBeNull();
    },
  );

  it.each([
    ['2026-02-08T14:30:05Z', '2026-02-08T14:30:05.000Z'],
    ['2026-02-08T14:30:05.123456Z', '2026-02-08T14:30:05.123Z'],
    ['2026-02-08T14:30:05+01:00', '2026-02-08T13:30:05.000Z'],
    ['2026-02-08 14:30', '2026-02-08T13:30:00.000Z'],
    ['2026-02-08 14:30:05 UTC', '2026-02-08T14:30:05.000Z'],
    ['2026-02-08', '2026-02-07T23:00:00.000Z'],
    ['260208-143000', '2026-02-08T13:30:00.000Z'],
  ])('is read from the words %s', (text, iso) => {
    expect(new Date(timeOfText(text, 'Europe/Berlin')!).toISOString()).toBe(iso);
  });

  it('is compared as an instant across a change of the clocks', () => {
    // 25 October 2026: 02:30 comes twice in Berlin; the first is taken.
    expect(new Date(timeOfName('261025-023000.yaml', 'Europe/Berlin')!).toISOString()).toBe(
      '2026-10-25T00:30:00.000Z',
    );
    // 29 March 2026: 02:30 is skipped.
    expect(new Date(timeOfName('260329-023000.yaml', 'Europe/Berlin')!).toISOString()).toBe(
      '2026-03-29T01:30:00.000Z',
    );
  });

  it('is created_at, else the name, else the file, and a difference is told', () => {
    const named = { name: 'signal.260208-140000.yaml' };
    expect(message('type: PAUSE\ncreated_at: 2026-02-08T12:00:00Z', named).createdAt).toBe(
      Date.UTC(2026, 1, 8, 12),
    );
    expect(message('type: PAUSE', named).createdAt).toBe(Date.UTC(2026, 1, 8, 13));
    expect(message('type: PAUSE').createdAt).toBe(NOW - 5);
    const warnings = (text: string) => (read(text, named) as { warnings: string[] }).warnings.join();
    expect(warnings('type: PAUSE\ncreated_at: 2026-02-08T12:00:00Z')).toContain('more than a minute apart');
    expect(warnings('type: PAUSE\ncreated_at: soon')).toContain('not a time');
    expect(warnings('type: PAUSE\ncreated_at: 2026-02-08T15:00:00Z')).toContain('in the future');
    expect(warnings('type: PAUSE')).toBe('');
  });
});
