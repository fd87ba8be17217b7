/**
 * docs/guides/first-project.md is what the program prints: each `console` block below a `transcript` mark is
 * played again and compared, with times and places masked. `UPDATE_DOCS=1` writes the blocks anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { makeNewcomer, type Newcomer, type NewcomerOptions } from './newcomer.ts';

vi.setConfig({ testTimeout: 180_000 });
const PAGE = resolve(import.meta.dirname, '../../docs/guides/first-project.md');
let newcomer: Newcomer;
afterEach(() => newcomer?.remove());

const PROJECTS: Record<string, NewcomerOptions & { name: string }> = {
  node: {
    name: 'a Node project',
    files: {
      'package.json': '{ "name": "greetings", "type": "module", "scripts": { "test": "node --test" } }\n',
      'test/start.test.mjs': "import { test } from 'node:test';\n\ntest('the tests run', () => {});\n",
      'PRD.md': `# Greetings

- [ ] Add src/greet.mjs with greet(name)
  - greet('Ada') is 'Hello, Ada!'
- [ ] Add src/farewell.mjs with farewell(name)
  - farewell('Ada') is 'Goodbye, Ada!'
`,
    },
    work: `mkdir -p src
if [ ! -f src/greet.mjs ]; then
  echo "export const greet = (name) => \\\`Hello, \\\${name}!\\\`;" > src/greet.mjs
else
  echo "export const farewell = (name) => \\\`Goodbye, \\\${name}!\\\`;" > src/farewell.mjs
fi
`,
  },
  python: {
    name: 'a Python project',
    files: {
      'pyproject.toml': '[project]\nname = "slugs"\nversion = "0.1.0"\n',
      '.gitignore': '__pycache__/\n',
      'tests/test_start.py':
        'import unittest\n\n\nclass Start(unittest.TestCase):\n    def test_the_tests_run(self):\n        self.assertTrue(True)\n',
      'fix_plan.md': '- [ ] Add slugs.py with slug(text): lower case, words joined by a dash\n',
    },
    work: `printf 'def slug(text):\\n    return "-".join(text.lower().split())\\n' > slugs.py\n`,
  },
  unborn: {
    name: 'a repository without commits',
    files: { 'PRD.md': '- [ ] Write a README that says what this will be\n' },
    work: 'echo "# Something good" > README.md\n',
    commit: false,
  },
};

const COMMANDS = [['init', '--yes'], ['doctor'], ['run', '--no-wait']];

/** What a terminal would show of the three commands. */
function transcript(options: NewcomerOptions): string {
  newcomer = makeNewcomer(options);
  return COMMANDS.map((args) => {
    const { code, out, err } = newcomer.ralph(args);
    expect(code, out + err).toBe(0);
    return newcomer.masked(`$ ralph ${args.join(' ')}\n${err}${out}`).trimEnd();
  }).join('\n\n');
}

test.each(Object.keys(PROJECTS))('the page shows what is printed for %s', (key) => {
  const shown = transcript(PROJECTS[key]!);
  const page = readFileSync(PAGE, 'utf8');
  const block = new RegExp(`(<!-- transcript: ${key} -->\n\`\`\`console\n)([\\s\\S]*?)(\n\`\`\`\n)`);
  const found = block.exec(page);
  expect(found, `the page has no block "${key}"`).not.toBeNull();
  if (process.env.UPDATE_DOCS === '1' && found![2] !== shown) {
    writeFileSync(
      PAGE,
      page.replace(block, (_, head: string, __, tail: string) => head + shown + tail),
    );
    return;
  }
  expect(found![2]).toBe(shown);
});

test.each(Object.keys(PROJECTS))('the files that the page names are those of %s', (key) => {
  const page = readFileSync(PAGE, 'utf8');
  newcomer = makeNewcomer(PROJECTS[key]!);
  for (const path of Object.keys(PROJECTS[key]!.files).filter((name) => /PRD|fix_plan/.test(name)))
    expect(page).toContain(readFileSync(join(newcomer.dir, path), 'utf8').trimEnd());
});
