/** What came of a loop's work: as a fact of its session, as a value for programs, and as the end of a run. */
import {
  type Exit,
  exitOf,
  type HowFar,
  isAwaited,
  type LandingFact,
  type LandingHire,
  landingText,
} from '../../core/index.ts';
import type { Landing } from '../../fleet/index.ts';
import type { Loop } from '../../store/index.ts';
import { loopWork } from './beside.ts';

interface Besides {
  hired?: LandingHire | null;
  unfinished?: HowFar | null;
}

export function landingFact(
  loop: Loop,
  landing: Landing,
  { hired = null, unfinished = null }: Besides = {},
): LandingFact {
  const work = { ...loopWork(loop), ...(hired && { hired }), ...(unfinished && { unfinished }) };
  switch (landing.kind) {
    case 'landed':
      return { type: 'loop.landed', ...work, commit: landing.commit, merged: landing.merged };
    case 'parked':
      return { type: 'loop.parked', ...work, why: landing.why, files: landing.files, next: landing.next };
    case 'queued':
      return { type: 'loop.queued', ...work, why: landing.why, next: landing.next };
    case 'on_branch':
      return { type: 'loop.stayed', ...work };
    case 'handed_over':
      return { type: 'loop.handed_over', ...work };
  }
}

/** What a program reads of it. */
export function landingJson({ type, hired, ...rest }: LandingFact): Record<string, unknown> {
  const outcome = type === 'loop.stayed' ? 'on_branch' : type.slice('loop.'.length);
  return { outcome, ...rest, ...(hired && { hired: hireJson(hired) }) };
}

function hireJson({ agent, session, settled, spent }: LandingHire): Record<string, unknown> {
  return { agent, session_id: session, settled, cost_usd: spent.costUsd };
}

/** Work that did not land is awaited; everything else leaves the end of a run as it was. */
export function exitAfter(exit: Exit, landing: LandingFact): Exit {
  return isAwaited(landing) ? exitOf(8, landingText(landing)) : exit;
}
