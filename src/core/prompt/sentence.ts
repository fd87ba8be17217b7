/**
 * The words of a correction. Each names the iteration, the task and what counts as evidence, so that
 * an agent that remembers nothing knows what was seen and what to do otherwise.
 */
import type { Finding, FindingKind, InterventionKind } from '../finding.ts';
import type { FalseClaim } from '../receipt/index.ts';

interface Wording {
  /** Follows "In iteration N, on task T, ". */
  seen: string;
  /** What to do now. */
  act: string;
  /** Follows "Evidence that counts: ". */
  evidence: string;
}

const CHANGED = 'files of this repository whose content differs after this call, named with their paths';
const GREEN = 'the gate command, run by you after your last change, with its exit code 0';

const WORDINGS: Record<FindingKind, Wording> = {
  no_files_detected: {
    seen: 'the call ended and no file had changed',
    act: 'Use your tools to create or change the files this task needs; describing a change does not make it.',
    evidence: CHANGED,
  },
  bookkeeping_only: {
    seen: 'only task lists, notes or logs had changed',
    act: 'Do the work itself; marking a task is the business of the loop.',
    evidence: `${CHANGED}, other than task files, notes and logs`,
  },
  evidence_validation_failed: {
    seen: 'the report named files that do not exist or did not change',
    act: 'Check each path before you report it, and report only what you changed in this call.',
    evidence: 'paths that exist and differ from before the call',
  },
  evidence_missing: {
    seen: 'the report named no evidence that counts',
    act: 'Give one entry of evidence for each acceptance criterion.',
    evidence: 'for each criterion a command with its exit code, a file, or a commit',
  },
  false_completion_detected: {
    seen: 'completion was claimed without progress, and the claim was overridden: the task stays open',
    act: 'Do the missing work first and claim completion only when you have seen it work.',
    evidence: `${CHANGED}, and passing gates`,
  },
  gate_failed: {
    seen: 'a required gate failed',
    act: 'Find the cause, fix it in the code, and run the gate yourself before you report.',
    evidence: GREEN,
  },
  gate_unavailable: {
    seen: 'a gate could not run because its command was not found',
    act: 'Make the command available by the means of this project (its install step), or report the blocker with what you tried.',
    evidence: 'the gate command starting and ending with an exit code of its own',
  },
  gate_empty: {
    seen: 'a gate passed without running a single test',
    act: 'Make sure that the tests exist and that the command finds them.',
    evidence: 'output of the gate that counts at least one executed test',
  },
  gate_regressed: {
    seen: 'checks failed that had passed before',
    act: 'Repair what this task broke; do not change the checks.',
    evidence: GREEN,
  },
  gate_red_before: {
    seen: 'a gate failed in the same way as before the task began',
    act: 'You need not repair these old failures; add no new ones.',
    evidence: 'a list of failures that is not longer than before',
  },
  protected_changed: {
    seen: 'protected files were changed, and the change was undone',
    act: 'Leave them alone; where the task truly needs one of them changed, report that as a blocker.',
    evidence: 'changes outside the protected paths only',
  },
  role_violation: {
    seen: 'files were changed that this role may not change, and they were put back',
    act: 'Keep to what this mode may write, and put everything else into your report.',
    evidence: 'changes within the bounds that stand under YOUR WORK',
  },
  illegal_task_change: {
    seen: 'fields of the task file were changed that belong to the loop, and they were put back',
    act: 'Do not mark, count, delete or reorder tasks; report, and the loop does the marking.',
    evidence: 'the report of this call',
  },
  forged_claim: {
    seen: 'the outbox held lines without the token of the call, or words in the name of a person',
    act: 'Report with `ralph emit`, which carries the token; do not copy lines of other calls, and answer no question yourself.',
    evidence: 'lines that were written by this call',
  },
  rubber_stamp: {
    seen: 'a review said Qualified without a result for each criterion',
    act: 'Check every criterion by itself and say for each whether it is met.',
    evidence: 'an entry in criteria_results for every acceptance criterion, with what you ran or read',
  },
  asked_and_notified: {
    seen: 'a person was asked and notified in the same turn',
    act: 'Put the news into the question, and send one of the two.',
    evidence: 'one message in a turn',
  },
  oscillation: {
    seen: 'the files went back to a state they had before',
    act: 'Do not undo and redo the same change; write down why both ways failed and take a third.',
    evidence: 'a state of the files that is new in this session',
  },
  denied_gate: {
    seen: 'the permission to run a gate was refused',
    act: 'Go on with what you can run and say in the report which command was refused.',
    evidence: 'commands that you could run, with their exit codes',
  },
  permission_refused: {
    seen: 'permission was asked for and refused',
    act: 'Do the task without what was refused, and do not try to reach the same by another way; what cannot be done without it, report as a blocker that names it.',
    evidence: CHANGED,
  },
  background_left: {
    seen: 'processes were still running when the call ended, and they were ended',
    act: 'Run commands in the foreground and stop every server that you start.',
    evidence: 'results of commands that ended within the call',
  },
  uncommitted_inside: {
    seen: 'work was left uncommitted in a repository inside this one',
    act: 'In a submodule, commit it there, and leave the new commit checked out: its pointer in this repository is landed with the task. A repository that is no submodule has to become one (`git submodule add`), or its `.git` has to go and its files become files of this repository.',
    evidence: 'a new commit checked out in the submodule, or files of this repository',
  },
  prompt_echo: {
    seen: 'what looked like a claim was a placeholder, a repetition of the instructions or the output of a tool, and did not count',
    act: 'When the work is complete, claim it yourself in your last message as HOW TO REPORT says: the result object with one word in its `status`, or the complete tag alone on its line.',
    evidence: 'a last message in your own words that says what you did and claims it',
  },
  unlisted_topic: {
    seen: 'a topic was published that this role may not publish, and it was dropped',
    act: 'Publish only the topics that stand under HOW TO REPORT.',
    evidence: 'a topic of that list',
  },
  extra_completion: {
    seen: 'completion was claimed for another task than the one of the call',
    act: 'Do one task in a call and report on that one only.',
    evidence: 'a result whose task_id is the task of the call',
  },
  idle_run: {
    seen: 'the call ended at once, without using a tool and without a change',
    act: 'Begin by reading the task and the code, with your tools.',
    evidence: CHANGED,
  },
  timed_out: {
    seen: 'the time ran out before the work was reported',
    act: 'Work in small steps that each leave something working on disk, and begin with what stands already.',
    evidence: 'finished steps on disk, and a report before the time is over',
  },
  undelivered_steer: {
    seen: 'a person had sent guidance that the call had not yet received',
    act: 'Read ROBOT GUIDANCE first and bring the work into line with it.',
    evidence: 'a report that says how the guidance was followed',
  },
  no_verdict: {
    seen: 'a review ended without a verdict',
    act: 'End with the result object, and in it verdict Qualified or Failed.',
    evidence: 'a verdict and an entry in criteria_results for every acceptance criterion',
  },
  history_rewritten: {
    seen: 'commits that were there before had been rewritten or dropped; they are kept under another name',
    act: 'Only add commits: no amend, rebase, reset or force.',
    evidence: 'a history that contains all earlier commits',
  },
  branch_moved: {
    seen: 'a branch that is not the one of this call was moved to a commit that was made in it',
    act: 'Commit on the branch that is checked out, and leave every other branch where it is: no update-ref, no branch -f, no merge into another one.',
    evidence: 'commits on the branch that was checked out when the call began',
  },
  branch_changed: {
    seen: 'another branch was checked out',
    act: 'Stay on the branch you were started on.',
    evidence: 'commits on that branch',
  },
  tests_dropped: {
    seen: 'the gate ran fewer tests than before',
    act: 'Never remove or skip a test to make a gate pass.',
    evidence: 'a gate that runs at least the tests it ran before',
  },
};

/** What false evidence was about, where it was not, or not only, about files. */
const FALSE_CLAIMS: Record<FalseClaim, Wording> = {
  file: WORDINGS.evidence_validation_failed,
  lines: {
    seen: 'the report named lines that their file does not have',
    act: 'Look at the file before you name lines of it, or name the file alone.',
    evidence: 'the path of a file that differs from before the call; lines only where it has them',
  },
  command: {
    seen: 'the report gave results of commands that were seen to end otherwise, or not to run',
    act: 'Run each command after your last change and report the exit code that it then has.',
    evidence: 'a command that you ran in this call, with the exit code it ended with',
  },
  commit: {
    seen: 'the report named commits that were not made in this task',
    act: 'Name a commit only by the id that git printed for it; there is no need to name one.',
    evidence: 'the id of a commit that this call made',
  },
  criterion: {
    seen: 'the report called a criterion met by a command that failed',
    act: 'Make that command pass, or report the criterion as not met.',
    evidence: 'a command for the criterion that ends with exit 0',
  },
};

/** The words for a finding; of false evidence of several kinds, those of each. */
function wordingOf({ kind, about = [] }: Finding): Wording {
  if (kind !== 'evidence_validation_failed' || about.length === 0) return WORDINGS[kind];
  const parts = about.map((one) => FALSE_CLAIMS[one]);
  return {
    seen: parts.map(({ seen }) => seen).join(', and '),
    act: parts.map(({ act }) => act).join(' '),
    evidence: parts.map(({ evidence }) => evidence).join('; '),
  };
}

/** What a correction answers and how. */
export interface Occasion {
  kind: InterventionKind;
  iteration: number;
  /** An id, or `session`. */
  task: string;
  /** The agent's circuit breaker tripped: what it did too often, e.g. "changed no file in 3 of your last 5 iterations". */
  tooOften?: string | undefined;
  /** Seconds before and after an attempt that ran out of them. */
  time?: { beforeS: number; afterS: number } | null | undefined;
}

/** The sentence that stands in the next prompt for one finding. One line. */
export function sentenceFor(finding: Finding, occasion: Occasion): string {
  const { kind, iteration, task, time } = occasion;
  const { seen, act, evidence } = wordingOf(finding);
  const place = task === '' || task === 'session' ? '' : `, on task ${task}`;
  const detail = finding.detail.replace(/\s+/g, ' ').trim().slice(0, 600);
  const told = detail === '' ? '' : ` Seen: ${/[.!?…]$/.test(detail) ? detail : `${detail}.`}`;
  const longer =
    time && (finding.kind === 'timed_out' || kind === 'more_time')
      ? ` The limit was then raised from ${time.beforeS} s to ${time.afterS} s.`
      : '';
  return `${opening(occasion)}In iteration ${iteration}${place}, ${seen}.${told}${longer} ${demand(occasion, act)} Evidence that counts: ${evidence}.`;
}

function opening({ kind, tooOften }: Occasion): string {
  const loud = tooOften === undefined ? '' : '**CRITICAL**: ';
  switch (kind) {
    case 'remind':
    case 'more_time':
    case 'diagnose':
      return loud;
    case 'insist':
    case 'question':
      return '**CRITICAL**: ';
    case 'other_agent':
      return `${loud}Another agent worked on this before you. `;
  }
}

function demand({ kind, tooOften }: Occasion, act: string): string {
  switch (kind) {
    case 'remind':
      return act;
    case 'insist':
      return tooOften === undefined
        ? `This has happened more than once, and the same again will be rejected again. You MUST do this first: ${act}`
        : `You have ${tooOften}; nothing that you say counts without it. Stop, and do NOT report before you have done this with your tools and looked at the result: ${act}`;
    case 'more_time':
      return `This call has more time than that one. ${act}`;
    case 'diagnose':
      return `It has failed in the same way several times, so diagnose before you change anything: reproduce it, write down the cause with what proves it, and only then make the smallest change that removes that cause. ${act}`;
    case 'other_agent':
      return `Do not take over its conclusions unchecked, and do NOT report before you have looked at the result yourself. ${act}`;
    case 'question':
      return `Every milder correction was tried. If a person answered to it, that stands under ANSWERS: begin with it. You MUST do this first: ${act}`;
  }
}
