/**
 * Verdicts on calls that change no code: reviews, and the works of planners, questioners and librarians.
 * What must be written is there and valid, or the call is returned with its exact errors.
 */
import type { Finding } from './finding.ts';
import { type Evidence, type Judgement, verdict } from './judgement.ts';

/** A review is accepted when it says something; what it says moves the task elsewhere. */
export function judgeReview(evidence: Evidence, findings: Finding[]): Judgement {
  const { result } = evidence.claim;
  const said = result?.verdict ?? evidence.review?.verdict ?? null;
  if (said === null) {
    findings.push({ kind: 'no_verdict', detail: 'The reviewer reported neither Qualified nor Failed.' });
    return verdict('rejected', findings, 'a review without a verdict');
  }
  // What was judged is not what lies there: the edit is undone, and the review with it. What its runs of the
  // thing left behind is only taken away.
  if (evidence.trespass.some(({ what, replaced }) => what === 'role_violation' && replaced))
    return verdict('rejected', findings, 'the reviewer changed files, so its review does not count');
  const unmet = result?.criteriaResults.filter((criterion) => !criterion.met) ?? [];
  const fileSays = evidence.review?.verdict ?? said;
  const worse = said === 'Failed' || fileSays === 'Failed' || unmet.length > 0 ? 'Failed' : 'Qualified';
  const silent = worse === 'Qualified' && evidence.hasCriteria ? unshown(evidence) : null;
  if (silent !== null) {
    findings.push({ kind: 'rubber_stamp', detail: silent });
    // Where a report is owed, a yes that shows nothing is no verdict.
    if (evidence.works !== null)
      return verdict('rejected', findings, 'Qualified, and not a word on what was checked');
  }
  const feedback =
    result?.feedback ||
    evidence.review?.feedback ||
    unmet.map((c) => `${c.criterion}: ${c.note || 'not met'}`).join('\n');
  return {
    ...verdict('accepted', findings, `the review says ${worse}`),
    review: { verdict: worse, feedback: feedback || result?.summary || '' },
  };
}

/** What a yes leaves unsaid; null where it says what was seen. */
function unshown({ claim, works }: Evidence): string | null {
  const results = claim.result?.criteriaResults ?? [];
  if (results.length === 0) return 'Qualified without a result for each criterion.';
  const bare = results.find(({ note }) => note.trim() === '');
  // Where a report is owed, it says what was seen.
  if (works === null || bare === undefined) return null;
  return `Qualified, and nothing is said of how "${bare.criterion.slice(0, 80)}" was seen to be met.`;
}

/** What must be written is there and valid; the agent's word alone is none. */
export function judgeWorks({ claim, works, report }: Evidence, findings: Finding[]): Judgement {
  if (claim.kind === 'failed') return verdict('rejected', findings, 'the agent reports failure');
  const faults = works?.faults ?? [];
  if (faults.length > 0) return verdict('rejected', findings, faultWords(faults));
  if (claim.kind === 'complete') return verdict('accepted', findings, 'the works are there');
  const late = report.ending === 'timed_out' ? 'out of time without a result' : 'no valid result';
  return verdict('rejected', findings, late);
}

function faultWords(faults: readonly string[]): string {
  const more = faults.length > 3 ? ` · and ${faults.length - 3} more` : '';
  return `${faults.slice(0, 3).join(' · ')}${more}`;
}

/** The review of the session is what its file says. */
export function judgeSession({ works }: Evidence, findings: Finding[]): Judgement {
  const faults = works?.faults ?? [];
  if (faults.length > 0) return verdict('rejected', findings, faultWords(faults));
  if (works?.review) return verdict('accepted', findings, `the session review says ${works.review.value}`);
  findings.push({ kind: 'no_verdict', detail: 'review.md says neither Complete nor Gaps Identified.' });
  return verdict('rejected', findings, 'a session review without an assessment');
}
