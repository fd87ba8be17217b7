/** The commands of a receipt: what was claimed of them against what gates and tool events saw. */
import type { RunCommand } from '../evidence.ts';
import type { Known, ReceiptSource } from './receipt.ts';

export interface ReceiptCommand {
  command: string;
  from: ReceiptSource[];
  /** The exit code that was claimed; null: none was named. */
  said: number | null;
  /** The exit code that was seen last. */
  exitCode: number | null;
  /** Who saw it. A gate ran after the agent's last change; `nobody`: it may have run, or not. */
  seen: 'gate' | 'tool' | 'nobody';
  held: boolean;
  wrong: boolean;
  why: string;
}

/** Every claimed command, and the gates' own commands that the agent was seen to run. */
export function commandLedger(
  known: Pick<Known, 'claim' | 'commands' | 'gates' | 'toolLog'>,
): ReceiptCommand[] {
  const { claim, commands, gates } = known;
  const told = (claim.told?.commands ?? []).map(({ command, exitCode, via }) =>
    uncalled(judged({ command, from: [via], said: exitCode }, known), known),
  );
  const ran = gates
    .filter(({ run }) => !told.some(({ command }) => same(command, run)))
    .filter(({ run }) => commands.some(({ command, denied }) => !denied && same(command, run)))
    .map(({ run }) => judged({ command: run, from: ['tool'], said: null }, known));
  return [...told, ...ran];
}

/**
 * With a log of every command the agent ran, one that was never called is a false claim. Where a script, a
 * task runner or something alike ran, it may have called it: then nobody knows.
 */
function uncalled(entry: ReceiptCommand, { toolLog, commands }: Pick<Known, 'toolLog' | 'commands'>) {
  if (!toolLog || entry.seen !== 'nobody') return entry;
  const wanted = wordsOf(entry.command);
  const maybe = commands.some(({ command, denied }) => {
    if (denied) return false;
    const ran = wordsOf(command);
    return MAY_CALL.test(command) || (wanted.length > 0 && wanted.every((word) => ran.includes(word)));
  });
  return maybe ? entry : { ...entry, wrong: true, why: 'the log of its tools has no such call' };
}

/** Runs what is written elsewhere, or goes by another name. */
const MAY_CALL =
  /(?:^|[\s;&|(/])(?:make|just|task|nx|turbo|lerna|husky|act|tox|nox|rake|gradlew?|mvnw?|docker|podman|ssh|tmux|screen|xargs|eval|source|watch|nohup)(?:\s|$)|\.(?:sh|bash|zsh|ps1|bat|cmd)\b|(?:^|\s)(?:ba|z|da)?sh\s|(?:npm|pnpm|yarn|bun|deno)\s+(?:run|t|test|exec|x|dlx|run-script)\b|(?:^|\s)(?:npx|pnpx|bunx)\s|(?:^|[\s;&|(])(?:node|python3?|ruby|perl|tsx|bun|deno|php)\s+\S|(?:^|[\s;&|])\.{1,2}\/|git\s+(?:commit|push)/;

/** Its words but options, folders and the shell's signs. */
function wordsOf(command: string): string[] {
  return flat(command)
    .replace(/\b(?:sudo|time|env|command|run)\s+/g, '')
    .split(/[\s;&|()<>"']+/)
    .filter((word) => /^[\w@]/.test(word) && !word.includes('='));
}

type Said = Pick<ReceiptCommand, 'command' | 'from' | 'said'>;

/** What was seen of one command, whoever claimed it. */
export function judged(said: Said, { commands, gates }: Pick<Known, 'commands' | 'gates'>): ReceiptCommand {
  const seen = lookUp(said.command, gates, commands);
  const entry = { ...said, ...seen, held: false, wrong: false, why: '' };
  const claimed = said.said;
  if (seen.denied) {
    return without({ ...entry, wrong: claimed === 0, why: 'it was denied to the agent' });
  }
  if (seen.seen === 'nobody') return without({ ...entry, why: 'nobody but the agent saw it run' });
  if (seen.exitCode === (claimed ?? 0)) return without({ ...entry, held: true });
  const who = seen.seen === 'gate' ? 'the gate ended' : 'its last run ended';
  const how = seen.exitCode === null ? 'without an exit code' : `with exit ${seen.exitCode}`;
  return without({ ...entry, wrong: claimed !== null && seen.exitCode !== null, why: `${who} ${how}` });
}

function without({ denied: _, ...entry }: ReceiptCommand & { denied: boolean }): ReceiptCommand {
  return entry;
}

type Seen = Pick<ReceiptCommand, 'exitCode' | 'seen'> & { denied: boolean };

function lookUp(command: string, gates: Known['gates'], commands: readonly RunCommand[]): Seen {
  const gate = gates.find(({ run }) => same(command, run));
  // A gate that could not run saw nothing.
  if (gate !== undefined && gate.result.outcome !== 'unavailable') {
    const { outcome, exitCode } = gate.result;
    return { seen: 'gate', exitCode: outcome === 'passed' ? 0 : exitCode, denied: false };
  }
  const last = commands.findLast((run) => same(command, run.command));
  if (last === undefined) return { seen: 'nobody', exitCode: null, denied: false };
  return { seen: 'tool', exitCode: last.exitCode, denied: last.denied };
}

/** The same command, or one that stands whole in the other: `cd app && npm test`. */
function same(a: string, b: string): boolean {
  const [x, y] = [flat(a), flat(b)];
  if (x === '' || y === '') return false;
  return x === y || holds(x, y) || holds(y, x);
}

function holds(whole: string, part: string): boolean {
  return part.length >= 3 && parts(whole).includes(part);
}

/** Whether a command runs this other one: it is the same, or begins a part of it, as `npm test | tail` does. */
export function runsCommand(command: string, other: string): boolean {
  const wanted = flat(other);
  if (wanted === '') return false;
  return same(command, other) || parts(flat(command)).some((part) => part.startsWith(`${wanted} `));
}

const parts = (command: string) => command.split(/\s*(?:&&|;|\|\|?)\s*/);

const flat = (command: string) => command.replace(/\s+/g, ' ').trim();
