/**
 * No secret comes through, wherever the text is cut; what is none does. The secrets here open nothing: each is put
 * together from two halves.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { secretsOfEnv, spellingsOf } from './known-secrets.ts';
import { redactorOf } from './redact.ts';
import { secretsIn } from './secrets.ts';

const key = (...parts: string[]) => parts.join('');
const BODY = 'q7Zr2WmX9tKc4VbN8sLd3FgH6jPy1RuT5aEo';
const LINE = 'MIIEpAIBAAKCAQEAq7Zr2WmX9tKc4VbN8sLd3FgH6jPy1RuT5aEoq7Zr2WmX9tKc';
const PEM = [
  key('-----BEGIN RSA ', 'PRIVATE KEY-----'),
  'Proc-Type: 4,ENCRYPTED',
  'DEK-Info: AES-128-CBC,0123456789ABCDEF',
  '',
  LINE,
  LINE,
  'Kg==',
  '-----END RSA PRIVATE KEY-----',
].join('\n');

const MARKED: [string, string][] = [
  ['private key', PEM],
  ['AWS access key', key('AKIA', 'Q7ZR2WMX9TKC4VBN')],
  ['GitHub token', key('ghp_', BODY)],
  ['GitHub token', key('github_pat_', BODY, '_', BODY)],
  ['GitLab token', key('glpat-', BODY.slice(0, 20))],
  ['Slack token', key('xoxb-', '2837465019-', BODY)],
  ['Anthropic key', key('sk-ant-', 'api03-', BODY)],
  ['OpenAI key', key('sk-proj-', BODY, BODY)],
  ['Google API key', key('AIza', BODY.slice(0, 35))],
  ['Stripe key', key('sk_live_', BODY.slice(0, 24))],
  ['npm token', key('npm_', BODY)],
  ['Telegram bot token', key('482910365:', 'AA', BODY.slice(0, 33))],
];
const KNOWN = [
  { name: 'DB_PASSWORD', value: 'corréct "horse"\\battery/staple' },
  { name: 'SIGNING_KEY', value: `${LINE}+/${LINE}` },
  { name: 'SHORT_TOKEN', value: 'ab-12_cd' },
];
const redactor = redactorOf(KNOWN);
const SECRETS: [string, string][] = [
  ...MARKED,
  ...KNOWN.map(({ name, value }) => [name, value] as [string, string]),
];

/** Numbers that are the same in every run. */
function dice(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

function inPieces(pieces: string[]): string {
  const stream = redactor.stream();
  return pieces.map((piece) => stream.add(piece)).join('') + stream.end();
}

test.each(SECRETS)('%s: a word stands in its place, in text and within JSON', (name, secret) => {
  const shown = `[secret: ${name}]`;
  expect(redactor.text(`before ${secret} after`)).toBe(`before ${shown} after`);
  const once = JSON.stringify({ output: `first\n${secret}\nlast`, n: 1 });
  expect(JSON.parse(redactor.text(once))).toEqual({ output: `first\n${shown}\nlast`, n: 1 });
  const twice = JSON.stringify({ arguments: once });
  const inner = JSON.parse(redactor.text(twice)) as { arguments: string };
  expect(JSON.parse(inner.arguments)).toEqual({ output: `first\n${shown}\nlast`, n: 1 });
  expect(redactor.text(`\u001b[32m${secret}\u001b[0m`)).toBe(`\u001b[32m${shown}\u001b[0m`);
});

test.each(SECRETS)('%s: cut at any place, and at any two, it comes out as it does uncut', (name, secret) => {
  for (const text of [`{"a":"x ${secret} y"}\n`, `${secret}\n`, `one\\n${secret}`]) {
    const uncut = redactor.text(text);
    expect(uncut).toContain(`[secret: ${name}]`);
    for (let cut = 0; cut <= text.length; cut += 1) {
      expect(inPieces([text.slice(0, cut), text.slice(cut)])).toBe(uncut);
      const again = cut + ((cut * 7) % 41);
      expect(inPieces([text.slice(0, cut), text.slice(cut, again), text.slice(again)])).toBe(uncut);
    }
    expect(inPieces([...text])).toBe(uncut);
  }
});

test('any secrets in any order, cut anywhere: nothing of them is left, and all of the rest is', () => {
  const words = [
    '{"type":"text","text":"',
    '"}\n',
    ' ',
    '\\n',
    'task-12 ',
    '2026-11-29T15:32:25Z ',
    '=',
    "'",
    '-- ',
  ];
  for (let seed = 1; seed <= 1500; seed += 1) {
    const roll = dice(seed);
    const parts: { text: string; secret: boolean }[] = [];
    for (let n = 0; n < 12; n += 1) {
      parts.push({ text: words[roll(words.length)]!, secret: false });
      if (roll(3) > 0) continue;
      const [name, value] = SECRETS[roll(SECRETS.length)]!;
      // A private key is known by its lines, which a URL has not.
      const spellings = spellingsOf({ name, value }).filter((one) => !/^-----BEGIN[%+]/.test(one));
      parts.push(
        { text: ` ${spellings[roll(spellings.length)]!}`, secret: true },
        { text: ' ', secret: false },
      );
    }
    const text = parts.map((part) => part.text).join('');
    const pieces: string[] = [];
    for (let at = 0; at < text.length; ) {
      const length = 1 + roll(roll(2) === 0 ? 9 : 300);
      pieces.push(text.slice(at, at + length));
      at += length;
    }
    const out = inPieces(pieces);
    for (const { text: said, secret } of parts)
      if (secret) expect(out, `seed ${seed}`).not.toContain(said.trim());
    const rest = (whole: string) => whole.replaceAll(/\[secret: [^\]]*\]/g, '');
    expect(rest(out), `seed ${seed}`).toBe(
      rest(parts.map((part) => (part.secret ? ' ' : part.text)).join('')),
    );
  }
});

test.each(MARKED.slice(1))('a %s that is joined to a name', (name, secret) => {
  for (const before of ['TOKEN_', 'tok_', '__']) {
    expect(redactor.text(`say ${before}${secret} now`)).toBe(`say ${before}[secret: ${name}] now`);
    expect(secretsIn(`say ${before}${secret} now`)).toHaveLength(1);
  }
});

test('two secrets that overlap leave nothing of either', () => {
  const two = redactorOf([
    { name: 'FIRST_KEY', value: 'alpha-1234-middle' },
    { name: 'SECOND_KEY', value: '1234-middle-omega-5678' },
  ]);
  expect(two.text('<alpha-1234-middle-omega-5678>')).toBe('<[secret: FIRST_KEY]>');
  const longer = redactorOf([{ name: 'URL_TOKEN', value: `${key('ghp_', BODY)}:tail-of-it` }]);
  expect(longer.text(`<${key('ghp_', BODY)}:tail-of-it>`)).toBe('<[secret: URL_TOKEN]>');
});

test('bytes are redacted as bytes', () => {
  const stream = redactor.stream();
  const bytes = Buffer.from(`x corréct "horse"\\battery/staple y`);
  const out = [...bytes].map((byte) => stream.add(String.fromCharCode(byte))).join('') + stream.end();
  expect(Buffer.from(out, 'latin1').toString()).toBe('x [secret: DB_PASSWORD] y');
});

test('a key that never ends, and a token that never ends, are dropped as they come', () => {
  for (const [head, part] of [
    [key('-----BEGIN ', 'PRIVATE KEY-----\n'), `${LINE}\n`],
    [key('sk-ant-', BODY), BODY],
  ] as const) {
    const stream = redactor.stream();
    let out = stream.add(head);
    for (let n = 0; n < 5000; n += 1) out += stream.add(part);
    expect(out.length).toBeLessThan(100);
    expect((out + stream.add(' -- over\n') + stream.end()).trimEnd()).toMatch(
      /^\[secret: [^\]]*\] ?-- over$/,
    );
  }
});

test('hashes, UUIDs, images, tokens of our own files and names that only look alike are left alone', () => {
  const roll = dice(7);
  const chars = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const image = Array.from({ length: 400_000 }, () => chars[roll(64)]).join('');
  const hex = Array.from({ length: 40_000 }, () => '0123456789abcdef'[roll(16)]).join('');
  const texts = [
    `data:image/png;base64,${image}`,
    image.replaceAll('+', '-').replaceAll('/', '_'),
    ...(hex.match(/.{40}/g) ?? []),
    ...(hex.match(/.{64}/g) ?? []).map((hash) => `sha256:${hash}`),
    'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
    'risk-management-and-task-scheduling-for-the-very-long-name-of-a-branch',
    '--token sk-short npm_config_registry=https://registry.example.org ghp_ AKIA',
    '-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----',
    'if (text.includes("-----BEGIN PRIVATE KEY-----")) return refuse();',
    key('AKIA', 'IOSFODNN7EXAMPLE'),
  ];
  for (const text of texts.filter((one) => !one.includes('PRIVATE KEY'))) {
    expect(redactor.text(text)).toBe(text);
    expect(inPieces(text.match(/.{1,997}/gs) ?? [])).toBe(text);
  }
  // What talks of a key loses the words that name it, and no more.
  expect(redactor.text(texts.find((one) => one.includes('includes('))!)).toBe(
    'if (text.includes("[secret: private key]")) return refuse();',
  );
  expect(redactor.text(key('It begins with -----BEGIN ', 'PRIVATE KEY----- and then the key follows.'))).toBe(
    'It begins with [secret: private key] then the key follows.',
  );
});

test('lock files and what real agents printed come through byte by byte', () => {
  const files = [
    'package-lock.json',
    ...readdirSync('test/fixtures/agents').map((folder) =>
      join('test/fixtures/agents', folder, 'success.jsonl'),
    ),
  ];
  for (const file of files) {
    const text = readFileSync(file, 'latin1');
    expect(inPieces(text.match(/.{1,65536}/gs) ?? []), file).toBe(text);
  }
});

test('which variables hold a secret: by name, and only where the value can be told from ordinary words', () => {
  const of = (env: Record<string, string>) => secretsOfEnv(env).map(({ name }) => name);
  const value = 'x7-long-enough';
  expect(
    of({
      OPENAI_API_KEY: value,
      GH_TOKEN: value,
      CLIENT_SECRET: value,
      SECRET_KEY_BASE: value,
      PGPASSWORD: value,
      PASSWORD_OF_DB: value,
      DATABASE_PASSWD: value,
    }),
  ).toHaveLength(7);
  expect(
    of({
      PATH: value,
      MAX_TOKENS: '40960000000000',
      SHORT_KEY: 'abc-123',
      SSH_KEY: '/home/ann/.ssh/id_ed25519',
      POSTGRES_PASSWORD: 'postgres',
      FEATURE_KEY: 'disabled',
      PIN_TOKEN: '20261129',
      MASKED_SECRET: '************',
      SECRET_SERVER: 'https://vault.example.org',
    }),
  ).toEqual([]);
});

test('a value that begins with a slash is one as well, unless it is a path', () => {
  const of = (value: string) => secretsOfEnv({ SOME_KEY: value }).length === 1;
  const roll = dice(11);
  const chars = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const drawn = Array.from(
    { length: 500 },
    () => `/${Array.from({ length: 39 }, () => chars[roll(64)]).join('')}`,
  );
  expect(drawn.filter((value) => !of(value)).length).toBeLessThan(10);
  expect(of(key('/Jalr7XUtnFEMI/', 'K7MDENG/bPxRfiCYzKq1LmWe'))).toBe(true);
  expect(of('/x9!kd8Q-long')).toBe(true);
  for (const path of [
    '/run/secrets/dbPassword2',
    '/Users/annLee/MyProjects/KeyStore1',
    '/secrets',
    '/etc/ssl/private/server-1.key',
    '/home/ann/.ssh/id_ed25519',
    '/var/lib/docker/volumes/data1/keys/release2026',
  ])
    expect(of(path), path).toBe(false);
});

test('a known value is found in every spelling that programs print', () => {
  const value = key('q7/Zr+2W=mX', '(9)tK c4&V<b>N*8\'s"L\\dé');
  const of = redactorOf([{ name: 'A_KEY', value }]);
  const json = JSON.stringify(value).slice(1, -1);
  const url = encodeURIComponent(value);
  const strict = url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const small = (text: string) => text.replace(/%../g, (code) => code.toLowerCase());
  const go = json.replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
  const ascii = json.replace(/[^ -~]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
  const printed = [
    value,
    json,
    go,
    ascii,
    ascii.replace('\\u00e9', '\\u00E9'),
    JSON.stringify(json).slice(1, -1),
    JSON.stringify(go).slice(1, -1),
    json.replaceAll('/', '\\/'),
    ascii.replaceAll('/', '\\/'),
    JSON.stringify(json.replaceAll('/', '\\/')).slice(1, -1),
    url,
    small(url),
    strict,
    small(strict),
    new URLSearchParams({ a: value }).toString().slice(2),
  ];
  for (const one of printed)
    for (const text of [one, Buffer.from(one).toString('latin1')]) {
      expect(of.text(`<${text}>`), one).toBe('<[secret: A_KEY]>');
      for (let cut = 0; cut < text.length; cut += 1) {
        const stream = of.stream();
        expect(stream.add(`<${text.slice(0, cut)}`) + stream.add(`${text.slice(cut)}>`) + stream.end()).toBe(
          '<[secret: A_KEY]>',
        );
      }
    }
});

test('colours of every kind before a token, and the address that a bot token opens', () => {
  const token = key('ghp_', BODY);
  for (const colour of ['1', '0;31', '38;5;208', '38;2;255;165;100', '1;4;38;2;255;165;100;48;2;255;255;255'])
    for (const start of ['\u001b', '\\u001b', '\\x1b', '\\\\u001b', '\\e', '\\033'])
      expect(redactor.text(`${start}[${colour}m${token}${start}[0m`)).toBe(
        `${start}[${colour}m[secret: GitHub token]${start}[0m`,
      );
  const bot = (colon: string) => key(`123456789${colon}`, 'AA', BODY.slice(0, 33));
  for (const text of ['https://api.telegram.org/bot', 'https://api.telegram.org/file/bot', 'GET /bot', 'bot'])
    for (const colon of [':', '%3A', '%3a']) {
      const out = `${text}[secret: Telegram bot token]/sendMessage`;
      const whole = `${text}${bot(colon)}/sendMessage`;
      expect(redactor.text(whole)).toBe(out);
      for (let cut = 0; cut <= whole.length; cut += 1)
        expect(inPieces([whole.slice(0, cut), whole.slice(cut)])).toBe(out);
    }
  expect(redactor.text(`robot${bot(':')}`)).toBe(`robot${bot(':')}`);
});

test('a value keeps its shape, and its very self where nothing is in it', () => {
  const clean = { a: ['x', { b: 1 }], c: null };
  expect(redactor.value(clean)).toBe(clean);
  const held = { a: [`is ${key('npm_', BODY)}`], [key('npm_', BODY)]: true, at: new Date(0) };
  expect(redactor.value(held)).toEqual({
    a: ['is [secret: npm token]'],
    [key('npm_', BODY)]: true,
    at: new Date(0),
  });
});
