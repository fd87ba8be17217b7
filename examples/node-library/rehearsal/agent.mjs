/**
 * An agent for a rehearsal: it plays what coding agents do on a bad day. The prompt comes on stdin, the
 * task's id in RALPH_TASK_ID; what is printed last is the report.
 */
import { writeFileSync } from 'node:fs';

const { RALPH_TASK_ID: task, RALPH_ATTEMPT: attempt } = process.env;
const DONE = '<promise>COMPLETE</promise>';

const SLUG = `import { words } from './words.mjs';

/** The text as a part of an address: its words in lower case, with dashes between. */
export function slug(text) {
  return words(text).join('-').toLowerCase();
}
`;
const SLUG_TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slug } from '../src/slug.mjs';

test('words in lower case, with dashes', () => assert.equal(slug('Hello, world!'), 'hello-world'));
test('nothing stays nothing', () => assert.equal(slug(''), ''));
`;
const unique = (first) => `import { slug } from './slug.mjs';

/** The slug of the text, numbered where it is taken already. */
export function unique(text, taken) {
  const wanted = slug(text);
  if (!taken.includes(wanted)) return wanted;
  let number = ${first};
  while (taken.includes(\`\${wanted}-\${number}\`)) number += 1;
  return \`\${wanted}-\${number}\`;
}
`;
const UNIQUE_TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unique } from '../src/unique.mjs';

test('the second is numbered 2', () => assert.equal(unique('Hello', ['hello']), 'hello-2'));
test('the third is numbered 3', () => assert.equal(unique('Hello', ['hello', 'hello-2']), 'hello-3'));
`;

if (task === 'US-001' && attempt === '1') {
  // The lie: nothing was written.
  console.log(`I implemented slug() and all tests pass.\n\n${DONE}`);
} else if (task === 'US-001') {
  writeFileSync('src/slug.mjs', SLUG);
  writeFileSync('test/slug.test.mjs', SLUG_TEST);
  console.log(`Wrote src/slug.mjs and its tests.\n\n${DONE}`);
} else if (attempt === '1') {
  // The error: numbers begin with 1, and nobody ran the tests.
  writeFileSync('src/unique.mjs', unique(1));
  writeFileSync('test/unique.test.mjs', UNIQUE_TEST);
  console.log(`Wrote src/unique.mjs; the tests should pass.\n\n${DONE}`);
} else {
  writeFileSync('src/unique.mjs', unique(2));
  console.log(`The first free number is 2 now.\n\n${DONE}`);
}
