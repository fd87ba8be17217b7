/**
 * What an agent may do without asking. A shell line is as many commands as it holds, and the strictest word about
 * any of them is the word about the line: nothing is let through behind a `;`, in a subshell or in a substitution.
 */

export type PermissionWord = 'allow' | 'ask' | 'deny';

export interface PermissionPolicy {
  /** For what no rule matches. */
  default: PermissionWord;
  /** The first that matches a command is the word about it; `*` stands for anything. */
  rules: { match: string; policy: PermissionWord }[];
}

/** The word about something, and the rule it comes from; null: the default. */
export interface PermissionVerdict {
  word: PermissionWord;
  rule: string | null;
}

const STRICTNESS: Record<PermissionWord, number> = { allow: 0, ask: 1, deny: 2 };

/** Words that only lead to another command. */
const LEADING =
  /^(?:(?:[A-Za-z_]\w*=\S*|sudo|env|command|builtin|exec|nohup|time|then|do|else|if|while|until|elif|!|\{)(?:\s+|$))+/;
/** Programs that run the text they are given. */
const SHELL = /^(?:\S*\/)?(?:bash|sh|zsh|dash|ksh|eval|xargs)\b/;

/** Whether this policy lets everything through, so that nobody has to be asked anything. */
export function allowsAll({ default: fallback, rules }: PermissionPolicy): boolean {
  return fallback === 'allow' && rules.every(({ policy }) => policy === 'allow');
}

function matcher(pattern: string): RegExp {
  const parts = pattern.trim().replace(/\s+/g, ' ').split('*');
  return new RegExp(`^${parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`, 's');
}

/** Quotes and backslashes taken off, so that `g"it" push` is what it runs. */
const bare = (text: string): string =>
  text.replace(/\\\n/g, ' ').replace(/\\(.)/gs, '$1').replace(/["']/g, '').replace(/\s+/g, ' ').trim();

/** Where a command may end and another begin, inside of quotes as well: there it may be text, or a script. */
const OPERATOR = /&&|\|\||[;&|\n(){}`]|\$\(/;

/** Every command that this shell line may run, the line itself first. */
export function shellParts(line: string): string[] {
  const parts = [line, ...line.replace(/\\\n/g, ' ').split(OPERATOR)];
  const found = parts.flatMap((part) => {
    const text = bare(part);
    const led = text.replace(LEADING, '');
    const words = led.split(' ');
    const rest = words.map((_, at) => words.slice(at).join(' '));
    // `sudo -n git push`, `xargs git push`, `2>log git push`: whatever stands behind may be what runs.
    const behind = rest.map((one) => one.replace(/^\S*\//, ''));
    // `git -C elsewhere push`: options before the word that says what is done.
    const plain = rest.slice(2).map((one) => `${words[0]!.replace(/^\S*\//, '')} ${one}`);
    return [text, led, ...behind, ...plain];
  });
  return [...new Set(found)].filter((part) => part !== '');
}

function verdictOf(policy: PermissionPolicy, text: string): PermissionVerdict {
  const rule = policy.rules.find(({ match }) => matcher(match).test(text));
  return rule === undefined ? { word: policy.default, rule: null } : { word: rule.policy, rule: rule.match };
}

const strictest = (verdicts: PermissionVerdict[]): PermissionVerdict =>
  verdicts.reduce((all, one) => (STRICTNESS[one.word] > STRICTNESS[all.word] ? one : all));

/**
 * The word about a command line, or about a change of files where `command` is null: then rules match the paths. A
 * rule that allows is believed for a whole simple command only.
 */
export function permissionFor(
  policy: PermissionPolicy,
  { command, paths }: { command: string | null; paths: readonly string[] },
): PermissionVerdict {
  if (command === null) {
    if (paths.length === 0) return { word: policy.default, rule: null };
    return strictest(paths.map((path) => verdictOf(policy, path)));
  }
  const isSimple = !OPERATOR.test(command) && !/["'\\<>$]/.test(command);
  const whole = verdictOf(policy, bare(command));
  // Pieces are readings of the same line: those that no rule knows say nothing beside those that one does.
  const known = shellParts(command)
    .map((part) => verdictOf(policy, part))
    .filter(({ rule, word }) => rule !== null && word !== 'allow');
  if (isSimple && whole.rule !== null && known.length === 0 && !SHELL.test(bare(command))) return whole;
  const simple = command
    .split(OPERATOR)
    .map((part) => bare(part).replace(LEADING, ''))
    .filter((part) => part !== '')
    .map((part) => {
      const verdict = verdictOf(policy, part);
      // What a variable holds, and where output goes, no rule has read.
      const isRead = verdict.word !== 'allow' || !/[<>$]/.test(part);
      return isRead ? verdict : { word: policy.default, rule: null };
    });
  return strictest([...simple, ...known, ...(simple.length === 0 ? [whole] : [])]);
}
