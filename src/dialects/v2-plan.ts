/** `plan.md` of a cycle: which of the sections that the planner owes are missing or say nothing. */
import { splitFrontMatter } from './v2-front-matter.ts';
import { namedSections, wordLines } from './v2-sections.ts';

const NEEDED = {
  Goal: /^(?:goals?|objectives?|purpose)(?:$| and )/,
  'Success Criteria': /^(?:success|acceptance) criteria\b/,
  'Target Files': /^(?:target|affected|relevant|key) files\b|^files(?:$| to )/,
  Context: /^(?:(?:project|background|current) )?context\b|^background\b/,
  Approach: /^(?:(?:technical|proposed|implementation|solution) )?(?:approach|strategy)\b/,
  Grounding: /^ground(?:ing|ed in|ed on)\b/,
  'Replanning History': /^(?:re-?planning|iteration|change) history\b|^replanning$/,
};

type PlanPart = keyof typeof NEEDED;

const FIRST: PlanPart[] = ['Goal', 'Success Criteria', 'Target Files', 'Context', 'Approach'];
const LATER: PlanPart[] = ['Grounding', 'Replanning History'];

/** What the planner must correct; `text` is null where the file is missing. */
export function planFaults(text: string | null, cycle: number): string[] {
  if (text === null) return ['plan.md is missing'];
  const { body } = splitFrontMatter(text);
  if (wordLines(body).length === 0) return ['plan.md is empty'];
  const sections = namedSections(body, NEEDED);
  const faults: string[] = [];
  for (const part of cycle >= 2 ? [...FIRST, ...LATER] : FIRST) {
    const section = sections.get(part);
    if (section === undefined) faults.push(`plan.md has no section "## ${part}"`);
    else if (wordLines(section.text).every((line) => PLACEHOLDER.test(line)))
      faults.push(`plan.md says nothing below "## ${part}"`);
  }
  return faults;
}

const PLACEHOLDER =
  /^(?:[-+*]\s+)?(?:\[[ xX]?\]\s*)?(?:\[(?:to be filled|tbd|todo)[^\]]*\]|tbd|tba|todo|\.{3}|…)?$/i;
