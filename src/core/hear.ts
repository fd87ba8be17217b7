/**
 * Hears what an agent says: outbox lines, result object, promise tags, status block. All of them are
 * read; the worse status wins and the details come from the most trusted. What is heard is a claim,
 * and the judge still holds it against the evidence.
 */
import type {
  Claim,
  ClaimedEvidence,
  ClaimMark,
  ClaimSource,
  PublishedTopic,
  ResultObject,
} from './claim.ts';
import { plainText, readFinalMessage, type Signal } from './final-message.ts';
import type { OutboxLine } from './outbox-line.ts';
import { toldBy } from './receipt/index.ts';
import { mergedDetails } from './result-details.ts';
import { readResult, worse } from './result-object.ts';

export interface Utterances {
  /** The last assistant message only, never the whole stream. */
  finalMessage: string;
  /** A tool's output held a signal of completion. */
  toolClaimed?: boolean;
  /** Lines of this attempt's outbox, in the order they were written. */
  outbox: readonly OutboxLine[];
  /** The prompt this attempt was given, to know it when it comes back. */
  prompt: string;
  /** A word that is as good as the complete tag; null when none is configured. */
  completionWord: string | null;
  /** Every task of the list: a result about another one of them claims nothing here. */
  taskIds: readonly string[];
  activeTask: string | null;
  /** Topics the role may publish, `*` for one segment; null is no bound. */
  publishes: readonly string[] | null;
}

/** Worst last. `unfinished` is an explicit "not done yet": it undoes a complete, and claims nothing. */
const BADNESS = ['complete', 'unfinished', 'failed', 'decide', 'blocked'] as const;
type SaidKind = (typeof BADNESS)[number];

interface Said {
  kind: SaidKind;
  via: ClaimSource;
  text: string;
}

/** Reads everything one attempt said as one claim. Never throws. */
export function hear(said: Utterances): Claim {
  const marks = new Set<ClaimMark>();
  const message = readFinalMessage(said.finalMessage, said.prompt, said.completionWord);
  if (message.echoes > 0 || isPassage(said.finalMessage, said.prompt)) marks.add('prompt_echo');
  if (message.emptyReasons > 0) marks.add('empty_reason');

  const outbox = hearOutbox(said, marks);
  const results: { result: ResultObject; via: 'outbox' | 'result' }[] = [];
  for (const [result, via] of [
    [outbox.result, 'outbox'],
    [message.result, 'result'],
  ] as const) {
    if (result === null) continue;
    if (isAboutAnother(result, said)) marks.add('extra_completion');
    else results.push({ result: { ...result, taskId: knownId(result.taskId, said) }, via });
  }

  const all: Said[] = [];
  for (const { result, via } of results) {
    const heard = saidBy(result, via);
    if (heard === 'empty') marks.add('empty_reason');
    else all.push(heard);
  }
  if (outbox.complete) all.push({ kind: 'complete', via: 'outbox', text: '' });
  for (const tag of message.tags) all.push(fromSignal(tag, 'tag'));
  if (message.status !== null) all.push(fromSignal(message.status, 'status'));

  const worst = worstOf(all);
  recordEvidence(results, outbox.evidence, worst?.kind === 'complete');
  const told = toldBy({ results, finalMessage: said.finalMessage, prompt: said.prompt });
  const result = merged(results.map(({ result }) => result));
  return {
    kind: worst === null || worst.kind === 'unfinished' ? 'none' : worst.kind,
    via: worst?.via ?? 'none',
    text: worst?.text ?? '',
    result,
    topics: outbox.topics,
    notes: outbox.notes,
    files: [...new Set(results.flatMap(({ result }) => result.filesModified))],
    ...(told === null ? {} : { told }),
    ...(worst === null ? ignoredIn(message.placeholder, said) : {}),
    marks: [...marks],
  };
}

/** Evidence from the outbox joins the report that there is; with a bare tag it is the report. */
function recordEvidence(
  results: { result: ResultObject; via: 'outbox' | 'result' }[],
  evidence: ClaimedEvidence[],
  complete: boolean,
): void {
  if (evidence.length === 0) return;
  const [first] = results;
  if (first !== undefined) {
    first.result = { ...first.result, evidence: [...first.result.evidence, ...evidence] };
    return;
  }
  const result = complete ? readResult({ status: 'completed' }, { lenient: true }) : null;
  if (result !== null) results.push({ result: { ...result, evidence }, via: 'outbox' });
}

/** Where nothing was claimed: what may have been meant as a claim. */
function ignoredIn(placeholder: string | null, { toolClaimed }: Utterances): Pick<Claim, 'ignored'> {
  if (placeholder !== null) return { ignored: { why: 'placeholder', words: placeholder } };
  return toolClaimed ? { ignored: { why: 'tool', words: '' } } : {};
}

/** The worst thing said; of equals the first, because the list is in order of trust. */
function worstOf(all: Said[]): Said | null {
  let worst: Said | null = null;
  for (const said of all) {
    if (worst === null || BADNESS.indexOf(said.kind) > BADNESS.indexOf(worst.kind)) worst = said;
  }
  return worst;
}

function fromSignal({ kind, text }: Signal, via: ClaimSource): Said {
  return { kind, via, text };
}

function saidBy(result: ResultObject, via: ClaimSource): Said | 'empty' {
  const reason = result.blockers.join('\n') || result.question || result.summary || result.feedback;
  // Guidance that makes another task of this one is for a person to settle, whatever the status says.
  if (result.steerResponse === 'scope_change') return { kind: 'blocked', via, text: scopeChange(reason) };
  switch (result.status) {
    case 'blocked':
      return reason === '' ? 'empty' : { kind: 'blocked', via, text: reason };
    case 'failed':
      return { kind: 'failed', via, text: reason };
    case 'paused':
      return result.question === null
        ? { kind: 'unfinished', via, text: '' }
        : { kind: 'decide', via, text: result.question };
    case 'completed':
      // A reviewer that found criteria unmet has completed its review; an executor has not its work.
      return result.successCriteriaMet === false && result.verdict === null
        ? { kind: 'failed', via, text: reason }
        : { kind: 'complete', via, text: '' };
  }
}

const SCOPE_CHANGE = 'STEER scope change: ';

function scopeChange(reason: string): string {
  return reason.startsWith(SCOPE_CHANGE.trim()) ? reason : `${SCOPE_CHANGE}${reason || 'not said what'}`;
}

/** Only a completion can be about another task by mistake; a blocker is told whatever it names. */
function isAboutAnother({ status, taskId }: ResultObject, { activeTask, taskIds }: Utterances): boolean {
  if (status !== 'completed' || taskId === null || activeTask === null) return false;
  const id = taskId.toLowerCase();
  return id !== activeTask.toLowerCase() && taskIds.some((known) => known.toLowerCase() === id);
}

/** The id as the list spells it; null for words that name no task of the list. */
function knownId(taskId: string | null, { taskIds }: Utterances): string | null {
  const id = taskId?.toLowerCase();
  return taskIds.find((known) => known.toLowerCase() === id) ?? null;
}

/** Two result objects as one: fields of the more trusted, where it has them; the worse verdict. */
function merged(results: ResultObject[]): ResultObject | null {
  const [first, second] = results;
  if (first === undefined || second === undefined) return first ?? null;
  const steer = first.steerResponse ?? second.steerResponse;
  const details = mergedDetails(first.details, second.details);
  const warnings = [...new Set([...(first.warnings ?? []), ...(second.warnings ?? [])])];
  const either = <T>(a: T[], b: T[]) => (a.length > 0 ? a : b);
  return {
    status: first.status,
    mode: first.mode ?? second.mode,
    taskId: first.taskId ?? second.taskId,
    summary: first.summary || second.summary,
    filesModified: [...new Set([...first.filesModified, ...second.filesModified])],
    blockers: either(first.blockers, second.blockers),
    question: first.question ?? second.question,
    evidence: either(first.evidence, second.evidence),
    verdict: worse(first.verdict, second.verdict),
    criteriaResults: either(first.criteriaResults, second.criteriaResults),
    feedback: first.feedback || second.feedback,
    successCriteriaMet:
      first.successCriteriaMet === false || second.successCriteriaMet === false
        ? false
        : (first.successCriteriaMet ?? second.successCriteriaMet),
    ...(steer === undefined ? {} : { steerResponse: steer }),
    ...(details === undefined ? {} : { details }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

interface HeardOutbox {
  /** The last result line: within one outbox a later word replaces an earlier one. */
  result: ResultObject | null;
  /** The completion word was published as a topic. */
  complete: boolean;
  topics: PublishedTopic[];
  notes: string[];
  /** What was recorded while it worked; it belongs to whatever result is reported. */
  evidence: ClaimedEvidence[];
}

/** Most topics of one call; what it publishes beyond them is dropped. */
export const MAX_TOPICS = 100;

/** Most pieces of evidence that one call can record beside its report. */
const MAX_EVIDENCE = 100;

function hearOutbox({ outbox, publishes, completionWord }: Utterances, marks: Set<ClaimMark>): HeardOutbox {
  const heard: HeardOutbox = { result: null, complete: false, topics: [], notes: [], evidence: [] };
  let progress = false;
  for (const line of outbox) {
    switch (line.kind) {
      case 'result':
        heard.result = line.result;
        break;
      case 'note':
        progress ||= line.progress;
        heard.notes.push(line.text);
        break;
      case 'topic':
        if (line.topic === completionWord) heard.complete = true;
        else if (mayPublish(line.topic, publishes)) {
          if (heard.topics.length < MAX_TOPICS)
            heard.topics.push({ topic: line.topic, payload: line.payload });
        } else marks.add('unlisted_topic');
        break;
      case 'unlisted':
        marks.add('unlisted_topic');
        break;
      case 'forged':
        marks.add('forged_claim');
        break;
      case 'evidence':
        if (heard.evidence.length < MAX_EVIDENCE) heard.evidence.push(line.evidence);
        break;
      case 'ack':
      case 'task':
      case 'unreadable':
        break;
    }
  }
  if (progress && heard.topics.some(({ topic }) => topic === 'human.interact'))
    marks.add('asked_and_notified');
  return heard;
}

/** Whether a role with these `publishes` may publish the topic. Asking a person is never out of bounds. */
export function mayPublish(topic: string, publishes: readonly string[] | null): boolean {
  if (publishes === null || topic === 'human.interact') return true;
  return publishes.some((pattern) => topicMatches(pattern, topic));
}

/** Exact, or segment by segment where `*` stands for one segment. */
export function topicMatches(pattern: string, topic: string): boolean {
  if (pattern === topic) return true;
  const [wanted, given] = [pattern.split('.'), topic.split('.')];
  return (
    wanted.length === given.length && wanted.every((segment, i) => segment === '*' || segment === given[i])
  );
}

/** The whole message is a longer piece of the prompt: said back, nothing added. */
function isPassage(message: string, prompt: string): boolean {
  const text = plainText(message).trim();
  return text.length >= 200 && plainText(prompt).includes(text);
}
