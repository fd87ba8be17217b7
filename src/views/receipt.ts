/** The receipt of an attempt for people and programs: each claim and what became of it. */
import {
  pathWord,
  type Receipt,
  type ReceiptCommand,
  type ReceiptCommit,
  type ReceiptCriterion,
  type ReceiptFile,
} from '../core/index.ts';
import type { IterationStory } from './story.ts';
import { oneLine } from './words.ts';

export interface ReceiptJson {
  files: {
    path: string;
    said: string | null;
    from: string[];
    lines: string | null;
    /** Whether the file has these lines: `within`, `past_end`, `unchecked`; null where none were named. */
    line_check: string | null;
    status: string;
    held: boolean;
    wrong: boolean;
    why: string;
  }[];
  commands: {
    command: string;
    from: string[];
    claimed_exit_code: number | null;
    exit_code: number | null;
    seen_by: 'gate' | 'tool' | 'nobody';
    held: boolean;
    wrong: boolean;
    why: string;
  }[];
  commits: { commit: string; held: boolean; wrong: boolean; why: string }[];
  criteria: {
    number: number | null;
    text: string;
    met: boolean | null;
    held: boolean;
    by: { kind: string; value: string; held: boolean; seen: string }[];
  }[];
  /** Entries beyond the receipt's bounds. */
  more: number;
}

/** `acceptance`: the criteria of the task; those that nobody gave evidence for are listed, too. */
export function receiptJson(
  { files, commands, commits = [], criteria, more }: Receipt,
  acceptance: readonly string[],
): ReceiptJson {
  return {
    files: files.map(({ said, lineCheck, ...file }) => ({
      ...file,
      said: said ?? null,
      line_check: file.lines === null ? null : (lineCheck ?? 'unchecked'),
    })),
    commands: commands.map(({ command, from, said, exitCode, seen, held, wrong, why }) => ({
      command,
      from,
      claimed_exit_code: said,
      exit_code: exitCode,
      seen_by: seen,
      held,
      wrong,
      why,
    })),
    commits,
    criteria: everyCriterion(criteria, acceptance),
    more,
  };
}

/** Those of the task in its order, then what the agent named beside them. */
function everyCriterion(
  criteria: readonly ReceiptCriterion[],
  acceptance: readonly string[],
): ReceiptCriterion[] {
  const own = acceptance.map(
    (text, at) =>
      criteria.find(({ number }) => number === at + 1) ?? {
        number: at + 1,
        text,
        met: null,
        by: [],
        held: false,
      },
  );
  return [...own, ...criteria.filter(({ number }) => number === null || number > acceptance.length)];
}

/** How much evidence an attempt gave: the claims that hold; what it named, in journals without receipts. */
export function evidenceCount({ receipt, claim }: Pick<IterationStory, 'receipt' | 'claim'>): number {
  if (receipt === null) return claim?.result?.evidence.length ?? 0;
  return [...receipt.files, ...receipt.commands, ...(receipt.commits ?? [])].filter(({ held }) => held)
    .length;
}

const MAX_FILES = 12;
const MAX_OTHERS = 8;
/** A task's own criteria are all told, unless they are a flood. */
const MAX_CRITERIA = 40;

/** One line for each claim, the false ones first; what a tool did beside the claims is not repeated. */
export function receiptLines(receipt: Receipt, acceptance: readonly string[]): string[] {
  const criteria = everyCriterion(receipt.criteria, acceptance);
  const claimed = receipt.files.filter(({ from }) => from.some((source) => source !== 'tool'));
  const files = [...claimed.filter(({ wrong }) => wrong), ...claimed.filter(({ wrong }) => !wrong)];
  const commands = receipt.commands.filter(({ wrong, held }) => wrong || held);
  const commits = receipt.commits ?? [];
  const left =
    Math.max(0, commits.length - MAX_OTHERS) +
    Math.max(0, files.length - MAX_FILES) +
    Math.max(0, commands.length - MAX_OTHERS) +
    Math.max(0, criteria.length - MAX_CRITERIA);
  const more = left + receipt.more;
  return [
    ...files.slice(0, MAX_FILES).map(fileLine),
    ...commands.slice(0, MAX_OTHERS).map(commandLine),
    ...commits.slice(0, MAX_OTHERS).map(commitLine),
    ...criteria.slice(0, MAX_CRITERIA).map(criterionLine),
    ...(more > 0 ? [`and ${more} more in the attempt's evidence.json`] : []),
  ];
}

function fileLine({ path, said, lines, lineCheck, status, wrong, why }: ReceiptFile): string {
  const note = status === 'changed' ? LINE_NOTES[lineCheck ?? 'unchecked'] : '';
  const range = lines === null ? '' : ` (lines ${oneLine(lines, 20)}${note})`;
  const named = `${oneLine(pathWord(path), 120)}${said === undefined ? '' : ` (as ${oneLine(said, 120)})`}${range}`;
  if (wrong) return `claimed ${named}: claimed and ${status}: ${oneLine(why)}`;
  return why === ''
    ? `claimed ${named}: ${status}`
    : `claimed ${named}: ${status}, no proof: ${oneLine(why)}`;
}

const LINE_NOTES = { within: '', past_end: ', past its end', unchecked: ', lines not checked' };

function commitLine({ commit, wrong, why }: ReceiptCommit): string {
  return `claimed commit ${oneLine(commit, 64)}: ${wrong ? 'not so: ' : ''}${oneLine(why)}`;
}

function commandLine({ command, said, held, exitCode, seen, why }: ReceiptCommand): string {
  const named = `\`${oneLine(command, 120)}\``;
  if (held)
    return `ran ${named}: exit ${exitCode}, seen by ${seen === 'gate' ? 'the gate' : "the agent's tool"}`;
  return `claimed ${named} with exit ${said}: not so: ${oneLine(why)}`;
}

function criterionLine({ number, text, met, held, by }: ReceiptCriterion): string {
  const named = number === null ? `“${oneLine(text, 80)}”` : `criterion ${number} (${oneLine(text, 60)})`;
  const proof = by.filter((one) => one.held);
  const shown = (held ? proof : by).slice(0, 3).map(({ kind, value, seen }) => {
    const name = kind === 'command' ? `\`${oneLine(value, 80)}\`` : oneLine(value, 80);
    return `${name} ${oneLine(seen, 80)}`;
  });
  if (held) return `${named}: held by ${shown.join(' and ')}`;
  if (met === false) return `${named}: not met, says the agent`;
  if (met === null && by.length === 0) return `${named}: no evidence given`;
  return shown.length === 0
    ? `${named}: said to be met, with nothing behind it`
    : `${named}: not held: ${shown.join('; ')}`;
}
