import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Given } from './test-loading.ts';
import { MISTAKES, type Mistake, saidAbout } from './test-mistakes.ts';

const PAGE = new URL('../../docs/reference/configuration-mistakes.md', import.meta.url);
const ALL = Object.values(MISTAKES).flat();

const INTRODUCTION = `# Configuration mistakes and what they get

Everything that is wrong is told at once, before anything is started (exit code 5), in three lines: the
place and what is wrong, why it matters, what to do. This page is what the program says, written by a test
that makes each mistake (\`UPDATE_DOCS=1 npx vitest run src/config\`).
`;

async function page(): Promise<string> {
  const parts = [INTRODUCTION];
  let number = 0;
  for (const [where, mistakes] of Object.entries(MISTAKES)) {
    parts.push(`## ${where}\n`);
    parts.push('| | Somebody … | which is | and reads |\n| --- | --- | --- | --- |');
    for (const mistake of mistakes) {
      number++;
      const said = cell(await saidAbout(mistake));
      parts.push(`| ${number} | ${mistake.did} | ${written(mistake.given)} | ${said} |`);
    }
    parts.push('');
  }
  return parts.join('\n');
}

/** What was written, where: `ralph.yml` and its lines. */
function written({ env, flags, files, agentOutputs: _, ...texts }: Given): string {
  const names = {
    yml: 'ralph.yml',
    toml: '.ralph/ralph.toml',
    userYml: '~/.config/ralph/ralph.yml',
    userToml: '~/.config/ralph/ralph.toml',
    instructions: 'SESSION.instructions.md',
  };
  const shown = Object.entries(names).flatMap(([key, name]) => {
    const text = texts[key as keyof typeof names];
    return text === undefined ? [] : [`${name}<br>${text === '' ? '(empty)' : cell(text)}`];
  });
  for (const path of Object.keys(files ?? {})) shown.push(path.replace('/project/', ''));
  for (const [name, value] of Object.entries(env ?? {})) shown.push(code(`${name}=${value}`));
  for (const [name, value] of Object.entries(flags ?? {})) {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    shown.push(code(value === true ? flag : `${flag} ${value === '' ? '""' : String(value)}`));
  }
  return shown.join('<br>');
}

/** Lines as code, in one cell of a table. */
function cell(text: string): string {
  return text.trimEnd().split('\n').map(code).join('<br>');
}

function code(line: string): string {
  const short = line.length > 400 ? `${line.slice(0, 60)}…` : line;
  const shown = short
    .replaceAll('\t', '→')
    .replaceAll('|', '\\|')
    .replace(/^ +/, (blank) => ' '.repeat(blank.length));
  if (shown === '') return '';
  return shown.includes('`') ? `\`\` ${shown} \`\`` : `\`${shown}\``;
}

test('docs/reference/configuration-mistakes.md is what the program says', async () => {
  const text = await page();
  if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, text);
  expect(readFileSync(PAGE, 'utf8'), 'regenerate: UPDATE_DOCS=1 npx vitest run src/config').toBe(text);
});

test('there are more than thirty, and no two are the same', () => {
  expect(ALL.length).toBeGreaterThan(30);
  expect(new Set(ALL.map(({ given }) => JSON.stringify(given))).size).toBe(ALL.length);
});

test.each(ALL.map((mistake): [string, Mistake] => [mistake.did, mistake]))(
  'who %s reads where it is and what to do',
  async (_, mistake) => {
    const said = await saidAbout(mistake);
    expect(said).not.toBe('');
    const warned = !said.includes('\n  why: ');
    expect(said).toMatch(
      /^(ralph\.yml|\.ralph\/ralph\.toml|ralph\.toml|ralph\.yaml|\/home\/ada|\.ralph-sessions|--|RALPH_)/,
    );
    if (!warned) expect(said).toMatch(/\n {2}why: .+\n {2}fix: .+/);
  },
);
