/** The commands of a receipt: what was claimed of them against what gates and tool events saw. */
import type { GateResult, RunCommand } from '../evidence.ts';
import type { Known, ReceiptSource } from './receipt.ts';
import { chainOf, ranIn, tellsNothing } from './shell-exit.ts';

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
    uncalled(heldAgainst({ command, from: [via], said: exitCode }, known), known),
  );
  const ran = gates
    .filter(({ run }) => !told.some(({ command }) => same(command, run)))
    .filter(({ run }) => commands.some((one) => !one.denied && one.unseen !== true && same(one.command, run)))
    .map(({ run }) => judged({ command: run, from: ['tool'], said: null }, known));
  return [...told, ...ran];
}

/**
 * With a log of every command the agent ran, one that was never called is a false claim. Where a script, a
 * task runner, another tool or something alike ran, it may have called it: then nobody knows.
 */
function uncalled({ seen, entry }: Judged, { toolLog }: Pick<Known, 'toolLog'>): ReceiptCommand {
  if (!toolLog || seen.seen !== 'nobody' || seen.denied || seen.called) return entry;
  return { ...entry, wrong: true, why: 'the log of its tools has no such call' };
}

/** Whether a call may have run a command although it is none of those that stand in its line. */
function mayHaveRun({ command, unseen }: RunCommand, wanted: string): boolean {
  if (unseen === true || command.length >= CUT || MAY_CALL.test(command)) return true;
  const [ran, words] = [wordsOf(command), wordsOf(wanted)];
  if (words.length > 0 && words.every((word) => ran.includes(word))) return true;
  return (ranIn(command, null) ?? []).some((part) => {
    const own = wordsOf(part.command);
    return own.length > 0 && own.every((word) => words.includes(word));
  });
}

/** So long, a command may have been cut. */
const CUT = 2_000;

/** Runs what is written elsewhere, or goes by another name. */
const MAY_CALL =
  /(?:^|[\s;&|(/])(?:make|just|task|nx|turbo|lerna|husky|act|tox|nox|rake|gradlew?|mvnw?|docker|podman|ssh|tmux|screen|xargs|eval|source|watch|nohup)(?:\s|$)|\.(?:sh|bash|zsh|ps1|bat|cmd)\b|(?:^|\s)(?:ba|z|da)?sh\s|(?:npm|pnpm|yarn|bun|deno)\s+(?:run|t|test|exec|x|dlx|run-script)\b|(?:^|\s)(?:npx|pnpx|bunx)\s|(?:^|[\s;&|(])(?:node|python3?|ruby|perl|tsx|bun|deno|php)\s+\S|(?:^|[\s;&|])\.{1,2}\/|git\s+(?:commit|push)/;

/** Its words but options, folders and the shell's signs. */
function wordsOf(command: string): string[] {
  return flat(command)
    .replace(/\b(?:sudo|time|env|command|run)\s+/g, '')
    .split(/[\s;&|()<>"']+/)
    .filter((word) => /^[\w@]/.test(word) && !word.includes('='))
    .map((word) => word.replace(/\/+$/, ''));
}

type Said = Pick<ReceiptCommand, 'command' | 'from' | 'said'>;
type Runs = Pick<Known, 'commands' | 'gates'>;

/** What was seen of one command, whoever claimed it. */
export function judged(said: Said, known: Runs): ReceiptCommand {
  return heldAgainst(said, known).entry;
}

interface Judged {
  seen: Seen;
  entry: ReceiptCommand;
}

function heldAgainst(said: Said, { commands, gates }: Runs): Judged {
  const seen = lookUp(said.command, gates, commands);
  const { denied, called, ...shown } = seen;
  const entry: ReceiptCommand = { ...said, ...shown, held: false, wrong: false, why: '' };
  const claimed = said.said;
  if (denied) return { seen, entry: { ...entry, wrong: claimed === 0, why: 'it was denied to the agent' } };
  if (seen.seen === 'nobody') {
    const why = `nobody but the agent saw ${called ? 'how it ended' : 'it run'}`;
    return { seen, entry: { ...entry, why } };
  }
  if (seen.exitCode === (claimed ?? 0)) return { seen, entry: { ...entry, held: true } };
  const who = seen.seen === 'gate' ? 'the gate ended' : 'its last run ended';
  const how = seen.exitCode === null ? 'without an exit code' : `with exit ${seen.exitCode}`;
  const wrong = claimed !== null && seen.exitCode !== null;
  return { seen, entry: { ...entry, wrong, why: `${who} ${how}` } };
}

type Seen = Pick<ReceiptCommand, 'exitCode' | 'seen'> & {
  denied: boolean;
  /** It was called, or may have been. */
  called: boolean;
};

const UNKNOWN: Seen = { seen: 'nobody', exitCode: null, denied: false, called: true };

/** What was seen of a claimed line: of several commands joined by `&&` each has to have ended well. */
function lookUp(line: string, gates: Known['gates'], commands: readonly RunCommand[]): Seen {
  const whole = wholeLine(line, gates, commands);
  if (whole !== null) return whole;
  const all = (chainOf(line) ?? [flat(line)]).map((command) => lookUpOne(command, gates, commands));
  return (
    all.find(({ seen, called, denied }) => seen === 'nobody' && !called && !denied) ??
    all.find(({ denied }) => denied) ??
    all.find(({ exitCode }) => exitCode !== null && exitCode !== 0) ??
    all.find(({ seen }) => seen === 'nobody') ??
    all[0] ??
    UNKNOWN
  );
}

/** A line that a gate or the last call of the agent's shell has as it stands; null where none does. */
function wholeLine(line: string, gates: Known['gates'], commands: readonly RunCommand[]): Seen | null {
  const wanted = flat(line);
  if (chainOf(line)?.length === 1) return null;
  const gate = gates.find(({ run, result }) => flat(run) === wanted && result.outcome !== 'unavailable');
  if (gate !== undefined) return byGate(gate.result);
  const calls = commands.filter((run) => run.unseen !== true && flat(run.command) === wanted);
  const last = calls.findLast(({ denied }) => !denied);
  if (last === undefined)
    return calls.length === 0 ? null : { seen: 'nobody', exitCode: null, denied: true, called: false };
  if (last.exitCode === null || tellsNothing(line)) return UNKNOWN;
  const later = commands.slice(commands.indexOf(last) + 1);
  if (last.exitCode !== 0 && later.some((run) => mayHaveRun(run, wanted))) return UNKNOWN;
  return { seen: 'tool', exitCode: last.exitCode, denied: false, called: true };
}

function byGate({ outcome, exitCode }: GateResult): Seen {
  return { seen: 'gate', exitCode: outcome === 'passed' ? 0 : exitCode, denied: false, called: true };
}

/** The last run decides; a failure only where nothing that may have run it anew came later. */
function lookUpOne(command: string, gates: Known['gates'], commands: readonly RunCommand[]): Seen {
  for (const { run, result } of gates) {
    // A gate that could not run saw nothing.
    if (result.outcome === 'unavailable') continue;
    const seen = byGate(result);
    const exitCode = flat(run) === command ? seen.exitCode : exitIn(run, seen.exitCode, command);
    if (flat(run) === command || typeof exitCode === 'number') return { ...seen, exitCode: exitCode ?? null };
  }
  let [called, denied] = [false, false];
  for (const run of commands.toReversed()) {
    const exitCode = run.unseen === true ? undefined : exitIn(run.command, run.exitCode, command);
    if (run.denied) denied ||= exitCode !== undefined;
    else if (exitCode === undefined) called ||= mayHaveRun(run, command);
    else if (exitCode === null || (exitCode !== 0 && called)) return UNKNOWN;
    else return { seen: 'tool', exitCode, denied: false, called: true };
  }
  return { seen: 'nobody', exitCode: null, denied: denied && !called, called };
}

/** The exit code that a command had in a line that ended with `code`: undefined where it is none of its commands. */
function exitIn(line: string, code: number | null, command: string): number | null | undefined {
  return ranIn(line, code)?.findLast((ran) => ran.command === command)?.exitCode;
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
