/** What a run prints when it is over: seed block, then what to do next. */
import { relative } from 'node:path';
import {
  commandFor,
  type Exit,
  isAwaited,
  type LandingFact,
  landingText,
  pathWord,
  type State,
  spentWords,
} from '../core/index.ts';
import { endSummary as endBlock } from '../dialects/index.ts';
import type { Unlanded } from '../fleet/index.ts';
import {
  afterDefect,
  blockedLines,
  endSummary,
  falseClaimLines,
  movedLines,
  refusedLines,
  rewordedLines,
  undeliveredLines,
} from '../views/index.ts';
import { landingJson } from './loops/landing-words.ts';
import type { Place } from './place.ts';

export interface Ended {
  /** null: there was nothing to do, and no session was made. */
  sessionId: string | null;
  state: State;
  exit: Exit;
  place: Place;
  /** Agents that could take over a blocked task; null: no suggestions are wanted. */
  others: string[] | null;
  /** What came of a loop's work that is done. */
  landing?: LandingFact;
  unlanded?: Unlanded;
}

export function summaryOf({ sessionId, state, exit, place, others, landing, unlanded }: Ended): {
  data: Record<string, unknown>;
  text: string;
} {
  const ralph = (command: string) => commandFor(state, command);
  const left = leftOver(unlanded, landing?.loop);
  const data = {
    ...endSummary(state, others),
    ...(landing === undefined ? {} : { landing: landingJson(landing) }),
    ...left.data,
  };
  // A journal that was lost or changed holds no end of the run.
  if (exit.code === 70) data.next = afterDefect(exit.reason, state);
  // What to do about it stands in the reason already.
  const isAsked = landing !== undefined && isAwaited(landing) && exit.code === 8;
  if (sessionId === null) {
    const next = 'write the next tasks into the list, or name another one with --tasks';
    const none = { session_id: null, log: null, next };
    const landed = landing === undefined || isAsked ? [] : [landingText(landing)];
    const lines = [exit.reason, ...landed, ...left.lines, next];
    return { data: { ...data, ...none, exit }, text: `${lines.map(sentence).join('\n')}\n` };
  }
  const log = `${relative(process.cwd(), place.dir) || '.'}/ralph/logs/summary.csv`.replace(/^\.\//, '');
  const text = endBlock({
    word: exit.word,
    code: exit.code,
    iterations: data.iterations,
    uncounted: data.uncounted_iterations,
    maxIterations: data.max_iterations,
    durationMs: data.duration_ms,
    storiesComplete: data.stories_complete,
    storiesTotal: data.stories_total,
    stuckIterations: data.stuck_iterations,
    log,
    next: [
      ...[exit.reason, isAsked ? '' : data.next].filter((line) => line !== ''),
      ...left.lines,
      ...(state.run && data.cost_usd !== null ? [`This run cost ${spentWords(state.run)}.`] : []),
      ...refusedLines(state, data.refused ?? []),
      ...movedLines(data.moved_branches ?? [], ralph).map(sentence),
      ...rewordedLines(data, ralph),
      ...falseClaimLines(data.false_claims, ralph),
      ...undeliveredLines(state).slice(0, 5),
      ...blockedLines(data, ralph),
    ],
  });
  return { data: { ...data, exit }, text };
}

/** Other loops' work and commits that no remote has: one sentence each, nothing where there is none. */
function leftOver(
  found: Unlanded | undefined,
  own: string | undefined,
): { data: Record<string, unknown>; lines: string[] } {
  const data: Record<string, unknown> = {};
  const lines: string[] = [];
  if (found === undefined) return { data, lines };
  const others = found.loops.filter(({ loop }) => loop !== own);
  if (found.loops.length > 0) data.unmerged = found.loops;
  if (found.unpushed !== null) data.unpushed = found.unpushed;
  if (found.submodules.length > 0) data.unpushed_submodules = found.submodules;
  if (others.length > 0) {
    const named = others.slice(0, 5).map(({ loop, onto }) => `${loop} (for ${onto})`);
    const more = others.length > named.length ? ` and ${others.length - named.length} more` : '';
    lines.push(`loops with work that has not landed: ${named.join(', ')}${more}; see \`ralph loops\``);
  }
  if (found.unpushed !== null) {
    const { branch, upstream, commits } = found.unpushed;
    lines.push(`${branch} is ${commits} commit${commits === 1 ? '' : 's'} ahead of ${upstream}: not pushed`);
  }
  for (const { path, commits } of found.submodules.slice(0, 5))
    lines.push(
      `submodule ${pathWord(path)} has ${commits} commit${commits === 1 ? '' : 's'} that no remote of it has: push them before what names them`,
    );
  return { data, lines };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
