/** What came of a loop's work, in words for people, as a value for programs, and as the end of a run. */
import { type Exit, exitOf } from '../../core/index.ts';
import type { Landing } from '../../fleet/index.ts';
import type { Loop } from '../../store/index.ts';
import { TO_DO } from '../../views/index.ts';

/** A loop and what came of its work. */
export interface LoopLanding {
  loop: Loop;
  landing: Landing;
}

const shortRef = (ref: string): string => ref.replace(/^refs\/heads\//, '');

/** One sentence for a person, without its stop. */
export function landingText({ loop, landing }: LoopLanding): string {
  const [branch, onto] = [shortRef(loop.branch), shortRef(loop.onto)];
  switch (landing.kind) {
    case 'landed':
      return `Loop ${loop.id} landed on ${onto}${landing.merged ? ' by a merge' : ''}: ${landing.commit.slice(0, 12)}`;
    case 'on_branch':
      return `Loop ${loop.id} is done and stays on its branch ${branch}, as land: branch says; \`ralph loops merge ${loop.id}\` lands it on ${onto}`;
    case 'handed_over':
      return `Loop ${loop.id} is done, and land.command took ${branch} over`;
    case 'queued':
      return `Loop ${loop.id} is done and waits to land on ${onto}: ${landing.why}. ${TO_DO}${landing.next.replace(/\.$/, '')}`;
    case 'parked':
      return `Loop ${loop.id} is done and did not land on ${onto}: ${landing.why}. ${TO_DO}${landing.next.replace(/\.$/, '')}`;
  }
}

/** What a program reads of it. */
export function landingJson({ loop, landing: { kind, ...rest } }: LoopLanding): Record<string, unknown> {
  const [branch, onto] = [shortRef(loop.branch), shortRef(loop.onto)];
  return { outcome: kind, loop: loop.id, branch, ...rest, onto };
}

/** Work that did not land is awaited; everything else leaves the end of the run as it was. */
export function exitAfter(exit: Exit, { loop, landing }: LoopLanding, signal: string | null): Exit {
  if (landing.kind !== 'parked' && landing.kind !== 'queued') return exit;
  const code = signal === null ? 8 : signal === 'SIGINT' ? 130 : 143;
  return exitOf(code, landingText({ loop, landing }));
}
