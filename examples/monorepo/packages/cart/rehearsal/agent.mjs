/**
 * An agent for a rehearsal with two roles: it implements badly, and it reviews well. The prompt comes on
 * stdin, the role in RALPH_MODE; what is printed last is the report.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const { RALPH_MODE: mode, RALPH_ATTEMPT: attempt } = process.env;
const DONE = '<promise>COMPLETE</promise>';

const total = (start) => `/** The price of all lines together, in cents. */
export function total(lines) {
  return lines.reduce((sum, { pieces, price }) => sum + pieces * price${start});
}
`;
const test = (more) => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { line } from '../src/line.mjs';
import { total } from '../src/total.mjs';

test('pieces times price, added up', () => assert.equal(total([line(2, 150), line(1, 50)]), 350));
${more}`;
const EMPTY = "test('an empty cart costs nothing', () => assert.equal(total([]), 0));\n";

if (mode === 'TASK_REVIEW') review();
else if (mode === 'review-fix') {
  writeFileSync('test/total.test.mjs', test(EMPTY));
  console.log(`The empty cart has its test.\n\n${DONE}`);
} else if (attempt === '1') {
  // The lie: nothing was written.
  console.log(`total() is implemented and covered by tests.\n\n${DONE}`);
} else {
  // True for the gates, yet a criterion is without its test.
  writeFileSync('src/total.mjs', total(', 0'));
  writeFileSync('test/total.test.mjs', test(''));
  console.log(`Wrote src/total.mjs and its test.\n\n${DONE}`);
}

/** Looks whether the empty cart is tested, which no gate can know. */
function review() {
  const file = 'test/total.test.mjs';
  const tested = existsSync(file) && readFileSync(file, 'utf8').includes('total([])');
  const result = {
    status: 'completed',
    mode,
    task_id: 'total',
    verdict: tested ? 'Qualified' : 'Failed',
    criteria_results: [
      { criterion: 'total([line(2, 150), line(1, 50)]) is 350', met: true },
      { criterion: 'total([]) is 0', met: true },
      { criterion: 'test/total.test.mjs covers both', met: tested },
    ],
    feedback: tested ? 'Both criteria are tested.' : `${file} has no test of the empty cart.`,
  };
  console.log(`\`\`\`json\n${JSON.stringify(result, null, 2)}\n\`\`\``);
}
