/**
 * What an agent's edit of a story's engine fields says: a claim on its own task, a review it was asked
 * for, or something only the engine and people may do (law, section 3 "Illegal edits").
 */
import { DONE_KEYS, ENGINE_KEYS, statusOfWord } from './story-fields.ts';
import type { StoryFields } from './story-marks.ts';
import type { Story } from './story-place.ts';
import type { TaskFileVerdict } from './tasklist.ts';

/** One story before and after the attempt. */
export interface StoryPair {
  id: string;
  before: Story;
  after: Story;
}

interface Situation {
  mode: string;
  active: string;
  reviewCap?: number;
}

type Findings = Pick<TaskFileVerdict, 'violations' | 'marked' | 'review'>;

const REVIEW_MODES: ReadonlySet<string> = new Set(['TASK_REVIEW', 'review']);

/** Illegal edits of the list's own fields: a list's gates are not an agent's to choose. */
export function judgeTop(before: Story, after: Story): { detail: string }[] {
  const same = JSON.stringify(before.verifyCommands) === JSON.stringify(after.verifyCommands);
  return same ? [] : [{ detail: 'verifyCommands was changed: the gates are not the agent’s to choose' }];
}

/** Adds what this story's edit amounts to. */
export function judgeStory(situation: Situation, pair: StoryPair, findings: Findings): void {
  const { id, before, after } = pair;
  const say = (detail: string) => findings.violations.push({ detail });
  if ((before.changes === 'none') !== (after.changes === 'none')) {
    say(`"changes" of story "${id}" was set: an exemption is a person’s to give`);
  }
  const changed = ENGINE_KEYS.filter((key) => !sameField(before[key], after[key]));
  if (changed.length === 0) return;
  // Another task marked on the way is a claim too many, told and undone; it spoils nothing else.
  const onTheWay = passed(pair) && changed.length === 1 && changed[0] === 'passes';
  if (id !== situation.active && onTheWay) findings.marked.push(id);
  else if (id !== situation.active) {
    const what = passed(pair) ? 'was passed' : `had ${changed.join(', ')} changed`;
    say(`story "${id}" ${what}, but the attempt’s task was "${situation.active || 'none'}"`);
  } else if (REVIEW_MODES.has(situation.mode)) judgeReview(situation, pair, findings);
  else judgeClaim(pair, findings);
}

function judgeClaim(pair: StoryPair, { violations, marked }: Findings): void {
  const { id, before, after } = pair;
  const [from, to] = [reviewStatus(before), reviewStatus(after)];
  if (!sameField(before.reviewCount, after.reviewCount)) {
    violations.push({
      detail: `reviewCount of "${id}" was set to ${shown(after.reviewCount)}: the engine counts`,
    });
  }
  if (from !== to && to !== 'needs_review') {
    violations.push({ detail: `reviewStatus of "${id}" went from ${from} to ${to} without a review` });
  } else if (passed(pair) || from !== to) marked.push(id);
}

function judgeReview({ reviewCap = 5 }: Situation, pair: StoryPair, findings: Findings): void {
  const { id, before, after } = pair;
  const say = (detail: string) => findings.violations.push({ detail });
  const [from, to] = [reviewStatus(before), reviewStatus(after)];
  const [was, now] = [Number(before.reviewCount ?? 0), after.reviewCount ?? 0];
  if (now !== was && now !== was + 1) say(`reviewCount of "${id}" jumped from ${was} to ${shown(now)}`);
  if (to === from) {
    if (passed(pair)) say(`"${id}" was passed without a review verdict`);
    return;
  }
  if (from !== 'needs_review')
    return void say(`"${id}" was reviewed although it was ${from}, not needs_review`);
  if (to !== 'approved' && to !== 'changes_requested') {
    return void say(`reviewStatus of "${id}" went from ${from} to ${to}, which is no verdict`);
  }
  const feedback = typeof after.reviewFeedback === 'string' ? after.reviewFeedback : '';
  const early = to === 'approved' && AUTO_APPROVED.test(feedback) && was + 1 < reviewCap;
  if (early) say(`"${id}" was approved as if at the cap, at review ${was + 1} of ${reviewCap}`);
  if (to === 'changes_requested' && passed(pair)) say(`"${id}" was passed with changes requested`);
  findings.review = { verdict: to === 'approved' && !early ? 'Qualified' : 'Failed', feedback };
}

const AUTO_APPROVED = /^\s*\[AUTO-APPROVED AT CAP\]/;

/** The fields that make an added story an open one, and what was illegal about it. */
export function openedFields(
  id: string,
  story: Story,
  reviewed: boolean,
): { fields: StoryFields; violations: { detail: string }[] } {
  const fields: StoryFields = DONE_KEYS.map((key) => [key, false]);
  if (statusOfWord(String(story.status ?? 'todo')) !== 'todo') fields.push(['status', 'todo']);
  if (Object.hasOwn(story, 'changes')) fields.push(['changes', 'expected']);
  fields.push(['reviewStatus', null], ['reviewCount', 0], ['reviewFeedback', '']);
  const wasReviewed = reviewStatus(story) !== 'null' || !sameField(story.reviewCount, 0);
  const what = isDone(story) ? 'already passed' : wasReviewed && reviewed ? 'with review fields set' : null;
  return { fields, violations: what === null ? [] : [{ detail: `new story "${id}" was added ${what}` }] };
}

function passed({ before, after }: StoryPair): boolean {
  return isDone(after) && !isDone(before);
}

function isDone(story: Story): boolean {
  if (DONE_KEYS.some((key) => story[key] === true)) return true;
  if (DONE_KEYS.some((key) => story[key] === false)) return false;
  return statusOfWord(String(story.status ?? '')) === 'done';
}

function reviewStatus(story: Story): string {
  return String(story.reviewStatus ?? 'null');
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing';
}

/** A field that is absent says the same as one that holds nothing. */
function sameField(a: unknown, b: unknown): boolean {
  const plain = (value: unknown) => (value === '' || value === 0 || value === false ? null : (value ?? null));
  return plain(a) === plain(b) || JSON.stringify(plain(a)) === JSON.stringify(plain(b));
}
