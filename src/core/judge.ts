/**
 * Turns a claim and the evidence into a verdict. An agent's word is never enough for `accepted`; what
 * it did is never hidden by its silence. Findings name what was held against it.
 */

import type { IgnoredClaim } from './claim.ts';
import type { AgentReport, GateResult, InnerWork } from './evidence.ts';
import type { Finding, FindingKind } from './finding.ts';
import { compareFailures } from './gate.ts';
import { type HatOutcome, hatAcceptance, hatOutcome } from './judge-hat.ts';
import { judgeReview, judgeSession, judgeWorks } from './judge-works.ts';
import { type EarlierWork, type Evidence, type Judgement, verdict } from './judgement.ts';
import { pathWord } from './path-word.ts';
import type { GateDef } from './policy.ts';
import { wrongIn } from './receipt/index.ts';
import { MODES } from './role.ts';
import { gateKey, type State } from './state.ts';

/** A final message shorter than this, with nothing done, is an agent that did not work. Characters. */
const TINY_MESSAGE = 600;

export function judge(evidence: Evidence): Judgement {
  const judgement = judgeAttempt(evidence);
  return { ...judgement, findings: onceEach(judgement.findings) };
}

/** How many details one finding carries; the others are counted. */
const DETAILS = 5;

/** In one iteration nothing is held against an agent twice: what several findings of a kind say stands in one. */
function onceEach(findings: Finding[]): Finding[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const key = `${finding.kind} ${finding.gate ?? ''}`;
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return [...groups.values()].map((group) => {
    const details = [...new Set(group.map(({ detail }) => detail))];
    const more = details.length > DETAILS ? ` · and ${details.length - DETAILS} more` : '';
    return { ...group[0]!, detail: details.slice(0, DETAILS).join(' · ') + more };
  });
}

function judgeAttempt(evidence: Evidence): Judgement {
  const findings = incidental(evidence);
  if (evidence.report.ending === 'died') return verdict('died', findings, diedReason(evidence.report));
  if (isIdle(evidence)) {
    findings.push({ kind: 'idle_run', detail: 'The agent ended without a tool call, a change or a claim.' });
    return verdict('died', findings, 'the agent did not work');
  }
  const { claim } = evidence;
  if (claim.kind === 'blocked' || claim.kind === 'decide') {
    return verdict('blocked', findings, `the agent asks: ${claim.text}`);
  }
  // What a reviewer read is not what lies there now, and cannot land.
  const { conflicts } = evidence;
  if (conflicts.length > 0) return verdict('unfinished', findings, conflictReason(conflicts));
  const contract = MODES[evidence.mode];
  if (evidence.mode === 'SESSION_REVIEW') return charge(evidence, judgeSession(evidence, findings));
  if (contract.owes === 'verdict') return charge(evidence, judgeReview(evidence, findings));
  if (contract.owes === 'works') return charge(evidence, judgeWorks(evidence, findings));
  return judgeCode(evidence, findings);
}

function diedReason(report: AgentReport): string {
  if (report.error) return `${report.error.kind}: ${report.error.message}`;
  return report.signal
    ? `the agent was ended by ${report.signal}`
    : `the agent ended with exit code ${report.exitCode}`;
}

function isIdle({ report, claim, changed, inner, marked, bookkeeping, refused }: Evidence): boolean {
  return (
    report.ending === 'ended' &&
    report.toolCalls === 0 &&
    refused.length === 0 &&
    claim.kind === 'none' &&
    claim.topics.length === 0 &&
    changed.length === 0 &&
    inner.length === 0 &&
    marked.length === 0 &&
    !bookkeeping &&
    report.finalMessage.length < TINY_MESSAGE
  );
}

/** Findings that stand beside any value. */
function incidental(evidence: Evidence): Finding[] {
  const found: Finding[] = evidence.trespass.map(({ what, detail }) => ({ kind: what, detail }));
  const add = (kind: FindingKind, detail: string) => found.push({ kind, detail });
  for (const mark of evidence.claim.marks) {
    if (mark === 'prompt_echo')
      add('prompt_echo', 'The final message repeats the prompt; nothing in it counts as a claim.');
    if (mark === 'forged_claim')
      add(
        'forged_claim',
        "A line in the outbox did not carry this attempt's token, or spoke for a person; it was refused.",
      );
    if (mark === 'asked_and_notified')
      add('asked_and_notified', 'A question and a progress notice came in one turn.');
    if (mark === 'unlisted_topic')
      add('unlisted_topic', "A topic outside the role's `publishes` was dropped.");
  }
  const left = evidence.report.leftBehind;
  if (left.length > 0)
    add('background_left', `Still running at the end, and ended: ${left.slice(0, 5).join(' · ')}`);
  if (evidence.deniedGate)
    add('denied_gate', `"${evidence.deniedGate}" was denied to the agent, so its results are not its own.`);
  if (evidence.refused.length > 0) add('permission_refused', refusedWords(evidence.refused));
  if (evidence.historyRewritten)
    add('history_rewritten', 'The branch no longer contains the commit it started from.');
  if (evidence.branchChanged)
    // Who did it, the agent or a person in the same work tree, cannot be told.
    add('branch_changed', `During the attempt the branch was switched from ${evidence.branchChanged}.`);
  for (const inner of evidence.inner) add('uncommitted_inside', insideWords(inner));
  if (evidence.oscillates) add('oscillation', 'The files are back where they were two attempts ago.');
  if (evidence.report.ending === 'timed_out') {
    add(
      'timed_out',
      `The attempt ran out of its ${evidence.report.timeout === 'idle' ? 'idle' : 'wall'} time.`,
    );
  }
  const about = evidence.claim.kind === 'complete' ? (evidence.claim.result?.taskId ?? null) : null;
  const others = [...new Set([...evidence.marked, ...(about === null ? [] : [about])])].filter(
    (id) => id !== evidence.task,
  );
  if (others.length > 0)
    add('extra_completion', `Also marked as done, and ignored: ${others.slice(0, 5).join(', ')}`);
  return found;
}

function judgeCode(evidence: Evidence, findings: Finding[]): Judgement {
  const hat = hatOutcome(evidence);
  const told = hat !== null && hat.topics.length > 0 && evidence.claim.kind !== 'failed';
  const claims = claimsTask(evidence) || (told && evidence.report.ending !== 'timed_out');
  const worked = evidence.changed.length > 0 || evidence.inner.length > 0;
  const broken = gateFindings(evidence, findings);
  const forbidden = findings.some((finding) => FORBIDDEN.has(finding.kind));
  const unproven = claims ? claimFindings(evidence, findings, told) : false;
  const timedOut = evidence.report.ending === 'timed_out';
  if (!claims) return judgeSilence({ evidence, findings, worked, broken, forbidden, timedOut });
  if (unproven || forbidden || broken.length > 0) {
    falseCompletion(evidence, findings);
    return charge(evidence, verdict('rejected', findings, rejection(findings)));
  }
  const inside = worksInside(evidence);
  if (inside !== null)
    return verdict('unfinished', findings, `the work lies in ${inside} and is not committed there`);
  if (evidence.undeliveredSteer) {
    findings.push({
      kind: 'undelivered_steer',
      detail: 'Guidance for this task had not reached the agent yet.',
    });
    return verdict('unfinished', findings, 'guidance arrived after this attempt began');
  }
  if (hat !== null) return judgeHat(hat, findings);
  if (evidence.earlier !== null)
    for (const finding of findings)
      if (finding.kind === 'evidence_missing')
        finding.detail += ` This attempt itself changed nothing; ${earlierWords(evidence.earlier)}.`;
  return verdict('accepted', findings, acceptance(evidence, findings));
}

function conflictReason(paths: string[]): string {
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : '';
  return `its changes do not fit what changed there meanwhile: ${paths.slice(0, 5).map(pathWord).join(', ')}${more}`;
}

/** A claim that neither hands the work on nor ends it leaves its task open. */
function judgeHat(hat: HatOutcome, findings: Finding[]): Judgement {
  if (hat.topics.length > 0 || hat.ends) return verdict('accepted', findings, hatAcceptance(hat));
  return verdict('unfinished', findings, `claimed, but ${hat.missing.join(', ')} was never published`);
}

/** A complete claim for this task; a silent agent that marked it in the task file has claimed it too. */
function claimsTask({ claim, task, marked }: Evidence): boolean {
  const about = claim.result?.taskId ?? null;
  if (claim.kind === 'complete') return about === null || task === null || about === task;
  return claim.kind === 'none' && task !== null && marked.includes(task);
}

/** Why it is accepted, without claiming more than the gates have shown. */
function acceptance(evidence: Evidence, findings: Finding[]): string {
  const { gates, needsNoChange, standing, earlier } = evidence;
  const own =
    standing.length > 0 || !needsNoChange ? 'claimed and changed' : 'claimed, and no change is needed';
  const changed =
    earlier === null ? own : `claimed, and ${earlierWords(earlier)}; this attempt itself changed nothing`;
  const red = findings.filter((finding) => finding.kind === 'gate_red_before').length;
  if (red > 0) return `${changed}; ${red} of ${gates.length} gates fail as they did before the task began`;
  const required = gates.filter((gate) => gate.def.required).length;
  return required === 0
    ? `${changed}; no gate was there to check it`
    : `${changed}${earlier === null ? ', and' : ';'} every required gate holds`;
}

/** The work of attempts 1 and 3 (a.txt, b.txt and 2 more) stands. */
function earlierWords({ attempts, paths }: EarlierWork): string {
  const which = attempts.length === 1 ? 'attempt' : 'attempts';
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : '';
  return `the work of ${which} ${attempts.join(' and ')} (${paths.slice(0, 3).map(pathWord).join(', ')}${more}) stands`;
}

/** Findings that by themselves keep a task open. */
const FORBIDDEN: ReadonlySet<FindingKind> = new Set([
  'protected_changed',
  'illegal_task_change',
  'denied_gate',
  'history_rewritten',
  'branch_moved',
]);

/** Findings that can be the reason of a rejection, the plainest first. */
const REASONS: readonly FindingKind[] = [
  'protected_changed',
  'illegal_task_change',
  'denied_gate',
  'history_rewritten',
  'branch_moved',
  'bookkeeping_only',
  'no_files_detected',
  'gate_unavailable',
  'gate_empty',
  'gate_regressed',
  'gate_failed',
];

interface Silence {
  evidence: Evidence;
  findings: Finding[];
  worked: boolean;
  broken: string[];
  forbidden: boolean;
  timedOut: boolean;
}

function judgeSilence({ evidence, findings, worked, broken, forbidden, timedOut }: Silence): Judgement {
  const endedWell = evidence.report.ending === 'ended';
  if (onlyAsked({ evidence, findings, worked, broken, forbidden, timedOut }))
    return verdict('blocked', findings, 'the agent asked, and ended its turn for the answer');
  const held = endedWell && evidence.refused.length > 0;
  if (!worked && evidence.claim.kind !== 'failed' && endedWell && !held) noChange(evidence, findings);
  if (endedWell) falseEvidence(evidence, findings);
  const { ignored } = evidence.claim;
  if (ignored) findings.push({ kind: 'prompt_echo', detail: ignoredWords(ignored) });
  if (evidence.claim.kind === 'failed')
    return charge(evidence, verdict('rejected', findings, 'the agent reports failure'));
  if (timedOut) return charge(evidence, verdict('rejected', findings, outOfTime(worked)));
  if (!worked) return charge(evidence, verdict('rejected', findings, held ? HELD : 'no claim and no change'));
  if (forbidden || broken.length > 0)
    return charge(evidence, verdict('rejected', findings, rejection(findings)));
  const silent = held ? 'work was done, and it ended when permission was refused' : UNCLAIMED;
  return verdict('unfinished', findings, silent);
}

/** Not idleness: some agents end their turn at a refusal. The next prompt tells what was refused. */
const HELD = 'permission was refused, and it ended without a claim or a change';
const UNCLAIMED = 'work was done and nothing was claimed';

function refusedWords(refused: string[]): string {
  const more = refused.length > 5 ? ` · and ${refused.length - 5} more` : '';
  return `Refused: ${refused.slice(0, 5).join(' · ')}${more}.`;
}

/** It was told to end its turn after a question; that it changed nothing else is no fault. */
function onlyAsked({ evidence, worked, broken, forbidden }: Silence): boolean {
  const { report, claim, asked, bookkeeping } = evidence;
  const quiet = claim.kind === 'none' && !claim.ignored && !worked && !bookkeeping;
  return asked && quiet && report.ending === 'ended' && !forbidden && broken.length === 0;
}

/** Why what looks like a claim is none. */
function ignoredWords({ why, words }: IgnoredClaim): string {
  return why === 'tool'
    ? "A signal of completion stood in a tool's output only, and the last message claims nothing: what a tool prints is no claim."
    : `The last message leaves open what it claims ("${words}"): a placeholder is no claim.`;
}

const outOfTime = (worked: boolean) =>
  `out of time without a claim; ${worked ? 'its work is kept' : 'it changed no file'}`;

/** A limit ended the attempt, not the task's own doing: its rejection is not charged. */
function charge(evidence: Evidence, judgement: Judgement): Judgement {
  return evidence.stoppedFor === 'limit' ? { ...judgement, charged: false } : judgement;
}

function rejection(findings: Finding[]): string {
  for (const kind of REASONS) {
    const found = findings.find((finding) => finding.kind === kind);
    if (found) return found.detail;
  }
  return 'the claim is not backed by evidence';
}

/** What is missing behind a complete claim. True when the claim cannot stand. */
function claimFindings(evidence: Evidence, findings: Finding[], told: boolean): boolean {
  falseEvidence(evidence, findings);
  // What was published is what such a run owes; the role that it wakes looks at the rest.
  if (told) return false;
  if (namesNothing(evidence)) {
    findings.push({ kind: 'evidence_missing', detail: missingWords(evidence) });
  }
  if (evidence.standing.length > 0 || evidence.needsNoChange || evidence.inner.length > 0) return false;
  noChange(evidence, findings);
  return true;
}

/** Names each claim that is not so, and why. */
function falseEvidence({ receipt }: Evidence, findings: Finding[]): void {
  const wrong = receipt === null ? [] : wrongIn(receipt);
  if (wrong.length === 0) return;
  const more = wrong.length > 10 ? ` and ${wrong.length - 10} more` : '';
  const told = wrong.slice(0, 10).map(({ text }) => text);
  findings.push({
    kind: 'evidence_validation_failed',
    detail: `Claimed, and not so: ${told.join('; ')}${more}.`,
    about: [...new Set(wrong.map(({ about }) => about))],
  });
}

function missingWords({ receipt }: Evidence): string {
  const outside = (receipt?.files ?? []).filter(({ status }) => status === 'outside');
  if (outside.length > 0)
    return `What the claim names as evidence lies outside the repository: ${outside
      .slice(0, 5)
      .map(({ path }) => path)
      .join(', ')}.`;
  if ((receipt?.files ?? []).some(({ from }) => from.some((source) => source !== 'tool')))
    return 'No file that the claim names counts as evidence: none of them is a change of this task.';
  return 'The claim names no file, command or commit as evidence.';
}

/** What is not committed there is in no commit of this repository either, and the next checkout lacks it. */
function insideWords({ path, submodule, files }: InnerWork): string {
  const more = files.length > 3 ? ` and ${files.length - 3} more` : '';
  const what = `${files.slice(0, 3).map(pathWord).join(', ')}${more}`;
  return submodule
    ? `Changed and not committed in the submodule ${pathWord(path)}: ${what}. A commit of this repository can only name a commit of ${pathWord(path)}.`
    : `Changed and not committed in ${pathWord(path)}, a repository of its own that is no submodule: ${what}. No commit of this repository can hold it.`;
}

/** The repositories inside that hold the work, where it is all there is or where the claim names files of theirs. */
function worksInside({ inner, standing, needsNoChange, receipt }: Evidence): string | null {
  const claimed = (receipt?.files ?? []).map(({ path }) => path);
  const meant =
    standing.length === 0 && !needsNoChange
      ? inner
      : inner.filter(({ path, files }) => files.some((file) => claimed.includes(`${path}/${file}`)));
  return meant.length === 0 ? null : meant.map(({ path }) => path).join(', ');
}

/** What tools were seen to do counts too: an agent need not say again what is seen to be true. */
function namesNothing({ claim, receipt }: Evidence): boolean {
  if ((claim.result?.evidence.length ?? 0) > 0 || claim.files.length > 0) return false;
  if (receipt === null) return true;
  const { files, commands, commits = [] } = receipt;
  // A command with its result is evidence, whether or not anybody else saw it run.
  if (commands.some(({ from }) => from.some((source) => source !== 'tool'))) return false;
  return ![...files, ...commands, ...commits].some(({ held, wrong }) => held || wrong);
}

function noChange(evidence: Evidence, findings: Finding[]): void {
  if (evidence.bookkeeping) {
    findings.push({ kind: 'bookkeeping_only', detail: 'Only the task file, notes or logs changed.' });
  } else if (evidence.standing.length === 0 && !evidence.needsNoChange) {
    findings.push({ kind: 'no_files_detected', detail: 'No file in the repository changed.' });
  }
}

function falseCompletion(evidence: Evidence, findings: Finding[]): void {
  const subject = evidence.task === null ? 'The work' : `Task ${evidence.task}`;
  findings.push({
    kind: 'false_completion_detected',
    detail: `${subject} was claimed complete, but ${rejection(findings)
      .replace(/\.$/, '')
      .replace(/^[A-Z]/, (c) => c.toLowerCase())}.`,
  });
}

/** A required gate that does not pass and holds nothing up: it failed alike before the session's work began. */
export function redAsBefore(
  { gates, onceGreen, tasks }: Pick<State, 'gates' | 'onceGreen' | 'tasks'>,
  def: GateDef,
  after: GateResult,
): boolean {
  if (after.outcome === 'passed') return false;
  const bases = [...tasks.values()].flatMap(({ baseTree }) => baseTree ?? []);
  const known = bases.flatMap((tree) => gates.get(gateKey(def, tree)) ?? []);
  const green = onceGreen.has(`${def.name}\0${def.run}`);
  return known.some((baseline) => brokenTogether([{ def, after, baseline, onceGreen: green }]).length === 0);
}

/** What required gates have against work that was accepted, now that others landed before it. */
export function brokenTogether(gates: Evidence['gates']): Finding[] {
  const findings: Finding[] = [];
  const broken = new Set(gateFindings({ gates }, findings));
  return findings.filter(({ kind, gate }) => kind !== 'gate_red_before' && broken.has(gate ?? ''));
}

/** Judges each gate against its baseline; answers the names of required gates that do not hold. */
function gateFindings({ gates }: Pick<Evidence, 'gates'>, findings: Finding[]): string[] {
  const broken: string[] = [];
  for (const { def, after, baseline, onceGreen } of gates) {
    const fewer = droppedTests({ def, after, baseline, onceGreen });
    if (fewer) findings.push(fewer);
    if (after.outcome === 'passed') continue;
    const finding = { ...gateFinding({ def, after, baseline, onceGreen }), gate: def.name };
    findings.push(finding);
    if (def.required && finding.kind !== 'gate_red_before') broken.push(def.name);
  }
  return broken;
}

/** A gate that passes with fewer tests than before may have been made to. */
function droppedTests({ def, after, baseline }: Evidence['gates'][number]): Finding | null {
  const [was, now] = [baseline?.tests ?? null, after.tests];
  if (was === null || now === null || now >= was) return null;
  return {
    kind: 'tests_dropped',
    detail: `Gate "${def.name}" ran ${now} tests; before the task it ran ${was}.`,
  };
}

function gateFinding({ def, after, baseline, onceGreen }: Evidence['gates'][number]): Finding {
  const named = `Gate "${def.name}" (${def.run})`;
  if (after.outcome === 'unavailable') {
    return {
      kind: 'gate_unavailable',
      detail: `${named} cannot run: exit ${after.exitCode}, ${firstLine(after.excerpt)}`,
    };
  }
  if (after.outcome === 'empty')
    return { kind: 'gate_empty', detail: `${named} passed without running a test.` };
  const failing = after.failures.length > 0 ? `: ${after.failures.slice(0, 5).join(' · ')}` : '';
  const how =
    after.outcome === 'timed_out'
      ? `ran longer than ${def.timeoutS} s`
      : `failed with exit ${after.exitCode}${failing}`;
  const comparable = def.baseline === 'no_regression' && baseline !== null;
  // A gate that never came to an end has said nothing, before or after: that is no failure to compare.
  if (after.outcome === 'timed_out' && baseline?.outcome === 'timed_out' && !onceGreen) {
    const detail = `${named} ${how}, as before the task began: it proves nothing until it ends (\`timeout_s\` gives it more time).`;
    return { kind: 'gate_failed', detail };
  }
  if (!comparable) return { kind: 'gate_failed', detail: `${named} ${how}.` };
  const wasRed = baseline.outcome !== 'passed';
  const same =
    wasRed &&
    baseline.outcome === after.outcome &&
    compareFailures(baseline.failures, after.failures) !== 'new';
  if (same && !onceGreen)
    return { kind: 'gate_red_before', detail: `${named} ${how}, as it did before the task began.` };
  return { kind: 'gate_regressed', detail: `${named} ${how}; it did not before.` };
}

function firstLine(text: string): string {
  return (
    text
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim()
      .slice(0, 200) ?? 'no output'
  );
}
