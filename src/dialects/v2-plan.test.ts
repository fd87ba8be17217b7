import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planFaults } from './index.ts';

const PLAN = `---
iteration: 1
---
# Plan

## Goal
A parser.

## Success Criteria
- [ ] It parses

## Target Files
- \`src/parser.ts\`

## Context
None of it exists.

## Approach
### Step 1
Write it.
`;
const LATER = `${PLAN}\n## Grounding\n- feedback\n\n## Replanning History\n- Cycle 2: ISS-001\n`;

describe('plan.md', () => {
  it('with all its sections has no fault', () => {
    expect(planFaults(PLAN, 1)).toEqual([]);
    expect(planFaults(LATER, 2)).toEqual([]);
  });

  it('that is missing or empty says so', () => {
    expect(planFaults(null, 1)).toEqual(['plan.md is missing']);
    for (const text of ['', ' \n\n', '---\niteration: 1\n---\n', '\ufeff', '<!-- later -->'])
      expect(planFaults(text, 1)).toEqual(['plan.md is empty']);
  });

  it('names every section that is missing or says nothing', () => {
    expect(planFaults('# Plan\n## Goal\nTBD\n## Approach\nGo.', 1)).toEqual([
      'plan.md says nothing below "## Goal"',
      'plan.md has no section "## Success Criteria"',
      'plan.md has no section "## Target Files"',
      'plan.md has no section "## Context"',
    ]);
  });

  it('of a later cycle tells what it is grounded in and why it was planned again', () => {
    expect(planFaults(PLAN, 2)).toEqual([
      'plan.md has no section "## Grounding"',
      'plan.md has no section "## Replanning History"',
    ]);
  });

  it.each([
    ['CRLF and a BOM', `\ufeff${PLAN.replaceAll('\n', '\r\n')}`],
    ['first-level headings', PLAN.replace('# Plan\n', '').replaceAll('\n## ', '\n# ')],
    [
      'numbers, capitals and colons',
      PLAN.replace(/\n## (.+)/g, (_, name) => `\n## 1. ${name.toUpperCase()}:`),
    ],
    ['bold lines for headings', PLAN.replace(/\n## (.+)/g, '\n\n**$1**')],
    ['signs in front', PLAN.replaceAll('\n## ', '\n## 🎯 ')],
    [
      'other words',
      PLAN.replace('Target Files', 'Files to Modify').replace('Approach', 'Technical Approach'),
    ],
  ])('is read with %s', (_what, text) => {
    expect(planFaults(text, 1)).toEqual([]);
  });

  it('headings in a code block are none', () => {
    expect(planFaults(`\`\`\`\n${PLAN.split('---\n')[2]}\`\`\`\n`, 1)).toHaveLength(5);
  });

  it('never throws', () => {
    const bits = LATER.split('\n').concat(['```', '<!--', '---', '\r']);
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom(...bits), { maxLength: 30 }).map((lines) => lines.join('\n')),
    );
    fc.assert(fc.property(text, fc.nat(3), (plan, cycle) => Array.isArray(planFaults(plan, cycle))));
  });
});
