/**
 * Text that looks like a key or a token somebody could use: what no commit of the engine's may carry out of the
 * work tree. Only forms that their makers gave a mark of their own are known; a password in plain words is not.
 */

interface Form {
  what: string;
  pattern: RegExp;
}

const FORMS: Form[] = [
  { what: 'a private key', pattern: /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/ },
  { what: 'an AWS access key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/ },
  {
    what: 'a GitHub token',
    pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})\b/,
  },
  { what: 'a GitLab token', pattern: /\bglpat-[A-Za-z0-9_-]{20,}/ },
  { what: 'a Slack token', pattern: /\bxox[abeprs]-[A-Za-z0-9-]{20,}/ },
  { what: 'an Anthropic key', pattern: /\bsk-ant-[A-Za-z0-9_-]{32,}/ },
  { what: 'an OpenAI key', pattern: /\bsk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}|[A-Za-z0-9]{40,})/ },
  { what: 'a Google API key', pattern: /\bAIza[0-9A-Za-z_-]{35}/ },
  { what: 'a Stripe key', pattern: /\b[rs]k_live_[0-9A-Za-z]{24,}/ },
  { what: 'an npm token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/ },
  { what: 'a Telegram bot token', pattern: /\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b/ },
];

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
  for (const { what, pattern } of FORMS) {
    const match = pattern.exec(line)?.[0];
    if (match === undefined || isMadeUp(match)) continue;
    return { what, match };
  }
  return null;
}

function isMadeUp(match: string): boolean {
  return /EXAMPLE/i.test(match) || new Set(match).size < FEWEST_DIFFERENT;
}
