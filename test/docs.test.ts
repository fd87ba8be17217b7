/** The documentation, held against the program: every command line, every link, every configuration. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mistakeIn, ralphLines } from '../src/cli/read-line.ts';
import { loadConfig } from '../src/config/index.ts';
import { EXITS } from '../src/core/index.ts';
import { readTaskList } from '../src/dialects/index.ts';

const ROOT = resolve(import.meta.dirname, '..');

function pagesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
}

/** What people read; the files of the examples are projects of their own. */
const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'AGENTS.md',
  ...pagesIn('docs'),
  ...pagesIn('examples').filter((path) => path.endsWith('README.md')),
];
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Block {
  language: string;
  /** From the HTML comment above it: what the block is, e.g. `file: PRD.md`. */
  label: string | null;
  text: string;
}

function blocksOf(text: string): Block[] {
  const fences = /(?:<!-- (.+?) -->\n)?^( *)```(\w*)\n([\s\S]*?)^ *```$/gm;
  return [...text.matchAll(fences)].map(([, label, indent = '', language = '', body = '']) => ({
    language,
    label: label ?? null,
    text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** Lines of shell, continued ones joined, and inline code that begins with ralph. */
function commandLines(text: string): string[] {
  const shell = blocksOf(text).filter(
    ({ language, label }) => (language === 'bash' || language === '') && !label,
  );
  const lines = shell.flatMap((block) => block.text.replaceAll('\\\n', ' ').split('\n'));
  const inline = [...text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/`(ralph [^`]+)`/g)].map(
    // A command that is only named need not have its arguments.
    ([, line = '']) => (/^ralph \w+$/.test(line) ? `${line} --help` : line),
  );
  // COMMAND stands for any of them.
  return [...lines, ...inline].filter((line) => !line.includes('COMMAND'));
}

describe.each(PAGES)('%s', (path) => {
  test('shows only commands and flags that exist', async () => {
    const faults: string[] = [];
    for (const line of commandLines(read(path))) {
      if (!/\bralph /.test(line) || ralphLines(line).length === 0) continue;
      const mistake = await mistakeIn(line);
      if (mistake !== null) faults.push(`${line}\n    ${mistake}`);
    }
    expect(faults).toEqual([]);
  });

  test('links only to files that are there', () => {
    const links = [...read(path).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target]) => target ?? '');
    const lost = links.filter((target) => !existsSync(join(ROOT, dirname(path), target)));
    expect(lost).toEqual([]);
  });
});

/** What is odd about a configuration, or not carried out yet; a mistake is thrown. */
async function load(text: string): Promise<string[]> {
  const readFile = async (path: string) => {
    if (path === '/project/ralph.yml') return text;
    throw Object.assign(new Error('not there'), { code: 'ENOENT' });
  };
  const { notYet, warnings } = await loadConfig({
    projectDir: '/project',
    env: { RALPH_TELEGRAM_BOT_TOKEN: '123:the-guide-takes-it-from-the-environment' },
    flags: {},
    readFile,
  });
  return [...warnings, ...notYet.map(({ what }) => what)];
}

const guides = PAGES.filter((path) => /^(README|docs\/(tutorial|guides))/.test(path));

test.each(guides)('every configuration in %s loads', async (path) => {
  const configurations = blocksOf(read(path)).filter(
    ({ language, label }) => language === 'yaml' && !label?.startsWith('tasks'),
  );
  for (const { text } of configurations) expect(await load(text), text).toEqual([]);
});

test('every task list in the guides is read as a list with two open tasks', () => {
  const lists = guides
    .flatMap((path) => blocksOf(read(path)))
    .filter(({ label }) => label?.startsWith('tasks: '));
  expect(lists).toHaveLength(3);
  for (const { label, text } of lists) {
    const reading = readTaskList(label?.replace('tasks: ', '') ?? '', text);
    if (reading.kind !== 'list') throw new Error(`${label}: ${JSON.stringify(reading)}`);
    const open = reading.tasks.filter(({ status }) => status === 'todo');
    expect(open).toHaveLength(2);
    expect(open[1]?.dependsOn).toEqual([open[0]?.id]);
    expect(open[0]?.acceptance.join()).toContain('401');
  }
});

test('every exit code has a section that says what to do', () => {
  const page = read('docs/guides/when-it-stops.md');
  const sections = page.split(/^## /m).slice(1);
  expect(sections.map((section) => section.split('\n')[0])).toEqual(
    Object.entries(EXITS).map(([code, { word }]) => `${code} ${word}`),
  );
  for (const section of sections) expect(section.length, section).toBeGreaterThan(60);
});

test('every page is reached from the index', () => {
  const index = read('docs/README.md');
  const linked = [...index.matchAll(/\]\(([^)#]+)/g)].map(([, target]) =>
    resolve(ROOT, 'docs', target ?? ''),
  );
  const unreached = pagesIn('docs').filter(
    (path) => path !== 'docs/README.md' && !linked.some((target) => resolve(ROOT, path).startsWith(target)),
  );
  expect(unreached.map((path) => relative('docs', path))).toEqual([]);
});
