/**
 * What an attempt wrote into git's own rules (a filter, an ignore line that no commit holds) is put back
 * before anybody looks at its work: a snapshot through those rules would not show what they hide.
 */
import { relative } from 'node:path';
import type { AttemptState, Fact, Trespass } from '../../core/index.ts';
import type { House } from '../house.ts';
import type { RuleChange } from '../ports.ts';

export interface Ruled {
  trespass: Trespass[];
  facts: Fact[];
}

/** `until` (epoch ms): what was written later is not the attempt's; null where it has just ended. */
export async function putRulesBack(
  house: House,
  attempt: AttemptState,
  until: number | null = null,
): Promise<Ruled> {
  if (attempt.rules === null) return { trespass: [], facts: [] };
  const changes = await house.ground.restoreRules(attempt.rules, until);
  if (changes.length > 0) house.fresh = null;
  const theirs = changes.filter((change) => change.outcome !== 'spared');
  return {
    trespass: theirs.map((change) => ({
      path: change.path,
      what: 'protected_changed',
      detail: detailOf(change),
      keptAs: keptAs(house, change),
    })),
    facts: changes.flatMap((change) => told(house, attempt, change)),
  };
}

function named({ what }: RuleChange): string {
  const more = what.length > 5 ? ` and ${what.length - 5} more` : '';
  return `${what.slice(0, 5).join(', ')}${more}`;
}

function detailOf(change: RuleChange): string {
  const undone = change.outcome === 'restored' ? 'was put back' : 'could not be put back';
  return `${change.path} tells git what to hide and what to run; it was changed (${named(change)}) and ${undone}.`;
}

function keptAs(house: House, change: RuleChange): string | null {
  return change.keptAs === null ? null : relative(house.sessionDir, change.keptAs);
}

/** Nothing may be built on a repository that hides things; and what a person wrote is left, and named. */
function told(house: House, attempt: AttemptState, change: RuleChange): Fact[] {
  const { iteration } = attempt;
  if (change.outcome === 'restored') return [];
  if (change.outcome === 'spared') {
    const text = `${change.path} was changed after iteration ${iteration} was cut off (${named(change)}); it is left as it is. Look at it if that was not you.`;
    return [{ type: 'notice.given', level: 'warning', text }];
  }
  const text = `Iteration ${iteration} changed ${change.path} (${named(change)}), by which git hides changes or runs programs, and it could not be put back. Put it right by hand, then \`ralph resume\`.`;
  return [
    { type: 'session.paused', at: house.clock.now(), text, by: 'engine' },
    { type: 'notice.given', level: 'critical', text },
  ];
}
