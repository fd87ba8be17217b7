/**
 * A private key is left out in every dress in which programs show a file, whole and in part, wherever its text is cut.
 * The keys here open nothing.
 */
import { expect, test } from 'vitest';
import { redactorOf } from './redact.ts';

const key = (...parts: string[]) => parts.join('');
const WIDTH = 64;
const CHARS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const redactor = redactorOf([]);

/** Numbers that are the same in every run. */
function dice(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

function made(seed: number, kind = 'RSA '): string[] {
  const roll = dice(seed);
  const line = (length: number) => Array.from({ length }, () => CHARS[roll(64)]).join('');
  const headers =
    seed % 3 === 0 ? ['Proc-Type: 4,ENCRYPTED', 'DEK-Info: AES-128-CBC,0123456789ABCDEF', ''] : [];
  const body = Array.from({ length: 4 + roll(22) }, () => line(WIDTH));
  const last = `${line(2 + roll(60))}${['', '=', '=='][roll(3)]}`;
  return [
    key(`-----BEGIN ${kind}`, 'PRIVATE KEY-----'),
    ...headers,
    ...body,
    last,
    `-----END ${kind}PRIVATE KEY-----`,
  ];
}

const DRESSES: Record<string, (line: string, index: number) => string> = {
  'as it is': (line) => line,
  indented: (line) => `      ${line}`,
  'cat -n': (line, n) => `${String(n + 1).padStart(6)}\t${line}`,
  'cat -A': (line) => `${line}$`,
  Windows: (line) => `${line}\r`,
  'an arrow': (line, n) => `${String(n + 1).padStart(6)}→${line}`,
  bat: (line, n) => `${String(n + 1).padStart(4)}   │ ${line}`,
  'grep -n': (line, n) => `${n + 1}:${line}`,
  'grep -rn': (line, n) => `deploy/keys/server.pem:${n + 1}:${line}`,
  'grep -C': (line, n) => `server.pem-${n + 1}-${line}`,
  added: (line) => `+${line}`,
  'taken out': (line) => `-${line}`,
  quoted: (line) => `> ${line}`,
  'a comment': (line) => ` * ${line}`,
  'a container': (line) => `web_1  | ${line}`,
  'a container in colour': (line) => `\u001b[36mweb-1 | \u001b[0m${line}`,
  'a time': (line, n) => `2026-11-29T15:32:${10 + n}.123456Z ${line}`,
  'a log': (line, n) => `[12:00:${10 + n}] [info] ${line}`,
  journalctl: (line, n) => `Nov 29 12:00:${10 + n} host deploy[4711]: ${line}`,
  'git blame': (line, n) => `^a1b2c3d (Ann Lee 2026-11-29 12:00:00 +0100 ${n + 1}) ${line}`,
  colour: (line) => `\u001b[38;2;255;165;100m${line}\u001b[0m`,
  'strings of a program': (line) => `'${line}\\n' +`,
};
const HOLDERS: Record<string, (text: string) => string> = {
  text: (text) => `before\n${text}\nand the end of it\n`,
  JSON: (text) => `${JSON.stringify({ output: `before\n${text}\nand the end of it`, n: 1 })}\n`,
  'JSON in JSON': (text) =>
    `${JSON.stringify({ arguments: JSON.stringify({ output: `before\n${text}\nand the end of it`, n: 1 }) })}\n`,
  'ASCII JSON': (text) =>
    `${JSON.stringify({ output: `before\n${text}\nand the end of it`, n: 1 }).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`,
  bytes: (text) => Buffer.from(`before\n${text}\nand the end of it\n`).toString('latin1'),
};

function inPieces(text: string, roll: (most: number) => number): string {
  const stream = redactor.stream();
  let out = '';
  for (let at = 0; at < text.length; ) {
    const length = 1 + roll([7, 90, 2000][roll(3)]!);
    out += stream.add(text.slice(at, at + length));
    at += length;
  }
  return out + stream.end();
}

/** No piece of sixteen characters of the body is left. */
function leftOf(lines: string[], out: string): string[] {
  return lines
    .filter((line) => !line.includes('-----') && !line.includes(': '))
    .flatMap((line) =>
      Array.from({ length: Math.max(1, line.length - 15) }, (_, at) => line.slice(at, at + 16)).filter(
        (piece) => piece.length === 16 && out.includes(piece),
      ),
    );
}

const CASES = Object.keys(DRESSES).flatMap((dress) =>
  Object.keys(HOLDERS).map((holder) => [dress, holder] as const),
);

test.each(CASES)('%s, as %s: nothing of the key is left, all else is, cut anywhere', (dress, holder) => {
  for (let seed = 1; seed <= 4; seed += 1) {
    const roll = dice(seed * 97);
    const lines = made(seed, ['RSA ', '', 'OPENSSH ', 'EC '][seed % 4]);
    const text = HOLDERS[holder]!(lines.map(DRESSES[dress]!).join('\n'));
    const out = redactor.text(text);
    expect(leftOf(lines, out), out).toEqual([]);
    expect(out.split('[secret: private key]'), out).toHaveLength(2);
    expect(out).toContain('before');
    expect(out, out).toContain('and the end of it');
    expect(out).not.toContain('END ');
    if (holder.includes('JSON')) {
      const outer = JSON.parse(out) as { arguments?: string; n: number };
      expect((outer.arguments === undefined ? outer : (JSON.parse(outer.arguments) as { n: number })).n).toBe(
        1,
      );
    }
    for (let n = 0; n < 2; n += 1) expect(inPieces(text, roll)).toBe(out);
  }
});

test.each(CASES)('%s, as %s: a key whose beginning or end is not shown', (dress, holder) => {
  for (let seed = 1; seed <= 4; seed += 1) {
    const roll = dice(seed * 89);
    const lines = made(seed);
    const from = 4 + roll(lines.length - 7);
    for (const part of [lines.slice(from), lines.slice(0, from)]) {
      const text = HOLDERS[holder]!(part.map((line, n) => DRESSES[dress]!(line, n + 1)).join('\n'));
      const out = redactor.text(text);
      expect(leftOf(part, out), out).toEqual([]);
      expect(out).toContain('before');
      expect(out, out).toContain('the end of it');
      if (holder.includes('JSON')) JSON.parse(out);
      for (let n = 0; n < 2; n += 1) expect(inPieces(text, roll)).toBe(out);
    }
  }
});

test('a text of megabytes that looks like a key is gone through once', () => {
  const lines = made(1);
  for (const one of [
    `${lines[3]}\n`,
    `web_1 | ${lines[3]}\n`,
    '2026 | ',
    'a',
    '\\',
    '-----END ',
    '\\u001b[',
    '| \n',
  ]) {
    const text = `${lines[0]}\n${one.repeat(60_000)}`;
    const stream = redactor.stream();
    let out = '';
    for (let at = 0; at < text.length; at += 8192) out += stream.add(text.slice(at, at + 8192));
    expect(out.length).toBeLessThanOrEqual(text.length);
    const orphan = redactor.stream();
    for (let at = 0; at < text.length; at += 8192) orphan.add(one.repeat(8192 / one.length));
  }
});
