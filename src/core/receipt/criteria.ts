/** The criteria of a receipt: which file, command or commit an agent put behind each, and whether it holds. */
import type { ReceiptCommand } from './commands.ts';
import { commitIn, judgedCommit } from './commits.ts';
import type { Known, ReceiptFile } from './receipt.ts';
import { codeNamed, pathsIn, pathsNamed, plainCommand } from './told.ts';

export interface CriterionEvidence {
  kind: 'file' | 'command' | 'commit' | 'text';
  value: string;
  held: boolean;
  /** What was seen: `exit 0`, `changed`, or why it does not hold. */
  seen: string;
  /** It shows that the criterion is not met, whatever is claimed. */
  against?: true;
}

export interface ReceiptCriterion {
  /** Its place among the task's criteria, from 1; null when it is none of them. */
  number: number | null;
  text: string;
  /** What the agent says of it; null: nothing. */
  met: boolean | null;
  /** At most 8. */
  by: CriterionEvidence[];
  /** Not said to be unmet, and something behind it holds. */
  held: boolean;
}

const MAX_TEXT = 160;
const MAX_EVIDENCE = 8;

interface LookUp {
  file: (path: string) => ReceiptFile | null;
  commands: readonly ReceiptCommand[];
  /** What was seen of a command that nobody claimed. */
  run: (command: string) => ReceiptCommand;
}

/** One entry for each criterion the agent gave evidence or a result for. */
export function criteriaOf(known: Known, look: LookUp): ReceiptCriterion[] {
  const { result } = known.claim;
  if (result === null) return [];
  const criteria = new Map<string, ReceiptCriterion>();
  const criterion = (written: string): ReceiptCriterion => {
    const number = numberOf(written, known.acceptance);
    const key = number === null ? flat(written) : String(number);
    let entry = criteria.get(key);
    if (entry === undefined) {
      const text = number === null ? written : known.acceptance[number - 1]!;
      entry = { number, text: text.slice(0, MAX_TEXT), met: null, by: [], held: false };
      criteria.set(key, entry);
    }
    return entry;
  };
  for (const { criterion: written, kind, value } of result.evidence) {
    if (written !== '') put(criterion(written), entryOf(kind, value));
  }
  for (const { criterion: written, met, note } of result.criteriaResults) {
    const entry = criterion(written);
    entry.met = met && entry.met !== false;
    put(entry, noted(note));
  }
  const claimed =
    result.status === 'completed' && result.verdict !== 'Failed' && known.claim.kind !== 'failed';
  for (const entry of criteria.values()) {
    entry.by = entry.by.map((one) => weighed(one, entry, { claimed, look }));
    entry.held = entry.met !== false && entry.by.some(({ held }) => held);
  }
  return [...criteria.values()];

  function entryOf(kind: string, value: string): CriterionEvidence[] {
    if (kind === 'file') return pathsIn(value).map(({ path }) => fileEvidence(path, look));
    if (kind === 'command')
      return [commandEvidence(plainCommand(value), look, true)].flatMap((one) => one ?? []);
    if (kind === 'commit') return [commitEvidence(value, known)];
    const named = noted(value);
    return named.length > 0
      ? named
      : [{ kind: 'text', value: value.slice(0, MAX_TEXT), held: false, seen: 'words only' }];
  }

  function noted(note: string): CriterionEvidence[] {
    return [
      ...pathsNamed(note).map(({ path }) => fileEvidence(path, look)),
      ...codeNamed(note).flatMap((code) => commandEvidence(code, look, false) ?? []),
    ];
  }
}

/**
 * A command that failed proves nothing, unless failing is what the criterion asks for. Where it asks that
 * something passes, the failure stands against it.
 */
function weighed(
  one: CriterionEvidence,
  { text, met }: ReceiptCriterion,
  { claimed, look }: { claimed: boolean; look: LookUp },
): CriterionEvidence {
  if (one.kind !== 'command') return one;
  const { said, exitCode, wrong } = ofCommand(one.value, look);
  const code = exitCode ?? said ?? 0;
  if (code === 0 || asksForExit(text, code)) return one;
  const passes = PASSES.test(text) && !FAILS.test(text.replace(UNFAILING, ' '));
  const seen = exitCode === null ? `exit ${code}, by its own word` : one.held ? `exit ${code}` : one.seen;
  const failed = { ...one, held: false, seen };
  return claimed && met !== false && passes && !wrong ? { ...failed, against: true } : failed;
}

/** `exits with 2`, `non-zero exit code`. */
function asksForExit(text: string, code: number): boolean {
  return (
    /\bnon-?\s?zero\b/i.test(text) ||
    new RegExp(`\\b(?:exit\\w*|code|status)\\b\\D{0,20}\\b${code}\\b`, 'i').test(text)
  );
}

const PASSES =
  /\b(?:pass(?:es|ed|ing)?|green|succe\w+|clean(?:ly)?|builds?|lints?|compiles?|type-?\s?checks?|exits? (?:with )?(?:code )?0|tests?|bestehen|besteht|grün|passent|pasan|passano|passam)\b|通过|通過|通りま|통과|проход/iu;
/** Something is to fail: then a failure may be what was to be seen. */
const FAILS =
  /\b(?:fail\w*|errors?|reject\w*|refus\w*|den(?:y|ies|ied)|invalid|unknown|missing|bad|wrong|abort\w*|throws?|not|un\w+able|red|broken)\b/i;
const UNFAILING = /\b(?:no|without|zero|0|free of|not? any)\s+(?:\w+\s+)?(?:fail\w*|errors?)\b/gi;

function put(criterion: ReceiptCriterion, evidence: CriterionEvidence[]): void {
  for (const one of evidence) {
    const known = criterion.by.some(({ kind, value }) => kind === one.kind && value === one.value);
    if (!known && criterion.by.length < MAX_EVIDENCE) criterion.by.push(one);
  }
}

function fileEvidence(path: string, { file }: LookUp): CriterionEvidence {
  const found = file(path);
  const seen = found === null ? 'not found' : found.held ? found.status : found.why;
  return { kind: 'file', value: (found?.path ?? path).slice(0, 300), held: found?.held ?? false, seen };
}

/** Null for code in a note that is no command anybody knows. */
function commandEvidence(
  command: string,
  { commands, run }: LookUp,
  named: boolean,
): CriterionEvidence | null {
  const known = commands.find((one) => flat(one.command) === flat(command));
  const found = known ?? run(command);
  if (found.seen === 'nobody' && known === undefined && !named) return null;
  const seen = found.held ? `exit ${found.exitCode}` : found.why;
  return { kind: 'command', value: found.command, held: found.held, seen };
}

function ofCommand(command: string, { commands, run }: LookUp): ReceiptCommand {
  return commands.find((one) => flat(one.command) === flat(command)) ?? run(command);
}

function commitEvidence(value: string, known: Known): CriterionEvidence {
  const id = commitIn(value);
  if (id === null)
    return { kind: 'commit', value: value.slice(0, 64), held: false, seen: 'it names no commit' };
  const { commit, held, why } = judgedCommit(id, known);
  return { kind: 'commit', value: commit, held, seen: why };
}

/** The place of a criterion among the task's: by its number, by its words, or by a piece of them. */
export function numberOf(written: string, acceptance: readonly string[]): number | null {
  const number =
    /^(?:ac|criterion|criteria|acceptance(?: criterion)?|kriterium|critère|criterio)?[\s#:._-]*(\d{1,3})[.):]?$/i.exec(
      written.trim(),
    )?.[1];
  if (number !== undefined)
    return Number(number) >= 1 && Number(number) <= acceptance.length ? Number(number) : null;
  const text = flat(written.replace(/^\s*(?:\[[ x]\]|\d{1,3}[.):])\s*/i, ''));
  const wanted = acceptance.map(flat);
  const exact = wanted.indexOf(text);
  if (exact !== -1) return exact + 1;
  const like = wanted.flatMap((one, at) =>
    (text.length >= 10 && one.includes(text)) || (one.length >= 10 && text.includes(one)) ? [at + 1] : [],
  );
  return like.length === 1 ? like[0]! : null;
}

const flat = (text: string) =>
  text
    .toLowerCase()
    .replace(/[`*_"'.,;:!]+/g, '')
    .replace(/\s+/g, ' ')
    .trim();
