/**
 * Text that looks like a key or a token somebody could use: what no commit of the engine's may carry out of the
 * work tree, and what no log and no message may show (`redact.ts`). Only forms that their makers gave a mark of their
 * own are known; a password in plain words is not.
 */

interface Form {
  /** With its article, for a sentence. */
  what: string;
  /** Digits that stand before the mark, at least and at most; absent: the mark begins it. */
  digits?: [least: number, most: number];
  /** From its mark on. */
  pattern: RegExp;
}

export const PRIVATE_KEY = 'a private key';

export const FORMS: readonly Form[] = [
  { what: PRIVATE_KEY, pattern: /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/ },
  { what: 'an AWS access key', pattern: /(?:AKIA|ASIA)[0-9A-Z]{16}\b/ },
  {
    what: 'a GitHub token',
    pattern: /(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})\b/,
  },
  { what: 'a GitLab token', pattern: /glpat-[A-Za-z0-9_-]{20,}/ },
  { what: 'a Slack token', pattern: /xox[abeprs]-[A-Za-z0-9-]{20,}/ },
  { what: 'an Anthropic key', pattern: /sk-ant-[A-Za-z0-9_-]{32,}/ },
  { what: 'an OpenAI key', pattern: /sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}|[A-Za-z0-9]{40,})/ },
  { what: 'a Google API key', pattern: /AIza[0-9A-Za-z_-]{35}/ },
  { what: 'a Stripe key', pattern: /[rs]k_live_[0-9A-Za-z]{24,}/ },
  { what: 'an npm token', pattern: /npm_[A-Za-z0-9]{36}\b/ },
  // Its digits stand behind `bot` in the addresses it opens.
  { what: 'a Telegram bot token', digits: [8, 10], pattern: /(?::|%3[Aa])AA[A-Za-z0-9_-]{33}\b/ },
];

/**
 * How each form begins, found from the rarest character on: in a stream of megabytes, looking for the forms themselves
 * takes four times as long. Groups: what ends in that character, and the dashes before a private key.
 */
export const MARK =
  /[_-](?:(?<=(gh[pousr]_|github_pat_|[rs]k_live_|npm_|glpat-|xox[abeprs]-|sk-))(?=[\w-]{16})|(?<=(-----))(?=BEGIN ))|A(?:KIA|SIA|Iza|A(?<=(:AA|%3[Aa]AA)))(?=[\w-]{16})/g;

/** What may stand at once before a form that begins with digits. */
export const BOT_BEFORE = /(?:^|[^A-Za-z0-9_])bot$/i;

/** Each form as it stands in a line, at the beginning of a word. */
const IN_LINE = FORMS.map(({ what, digits, pattern }) => {
  const before = digits === undefined ? '' : `(?<!\\d)[0-9]{${digits.join(',')}}`;
  const edge =
    what === PRIVATE_KEY
      ? ''
      : digits === undefined
        ? '(?<![A-Za-z0-9])'
        : '(?:(?<![A-Za-z0-9])|(?<=\\bbot))';
  return { what, pattern: new RegExp(`${edge}${before}${pattern.source}`) };
});

/** A line that says so is passed over; other scanners read the same mark. */
const ALLOWED = 'gitleaks:allow';

/** A made-up one, as in a manual, repeats itself; a real one hardly does. */
const FEWEST_DIFFERENT = 10;

interface Secret {
  /** From 1. */
  line: number;
  /** With its article, for a sentence. */
  what: string;
  /** The match itself: for comparing only, never to be shown. */
  match: string;
}

/** Every line that holds one, in order; the first of each line. */
export function secretsIn(text: string): Secret[] {
  const found: Secret[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.includes(ALLOWED)) continue;
    const secret = secretOf(line);
    if (secret !== null) found.push({ line: index + 1, ...secret });
  }
  return found;
}

function secretOf(line: string): Omit<Secret, 'line'> | null {
  for (const { what, pattern } of IN_LINE) {
    const match = pattern.exec(line)?.[0];
    if (match === undefined || isMadeUp(match)) continue;
    return { what, match };
  }
  return null;
}

/** It opens nothing, as in a manual. */
export function isMadeUp(match: string): boolean {
  return /EXAMPLE/i.test(match) || new Set(match).size < FEWEST_DIFFERENT;
}
