import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { describe, expect, it } from 'vitest';
import { type Block, walkBlocks } from './markdown-blocks.ts';

/** Markdown that is likely to go wrong: pieces of structure on lines of their own. */
const piece = fc.constantFrom(
  '- [ ] task',
  '* [x] other',
  '+ [x] third',
  '1. [ ] num',
  '2. [ ] two',
  '10. [X] ten',
  '3) [ ] paren',
  '- bullet',
  '-',
  '-     [ ] code',
  '- - [ ] twice',
  '-\t-\t[ ] tabs',
  '-\t[ ] tabbed',
  '\t- [ ] tab',
  '- [ ]',
  '[ ] no bullet',
  '```',
  '```js',
  '~~~',
  '````',
  '- ```',
  '<!--',
  '-->',
  '<!-- a -->',
  '- <!--',
  '<div>',
  '</div>',
  '- <div>',
  '<pre>',
  '\n<b>',
  '\n</b>',
  '> quote',
  '> - [ ] q',
  '> > - [ ] deep',
  '> ```',
  '>',
  '- > [ ] a',
  'text',
  '**bold**',
  '---',
  '===',
  '- ---',
  '* * *',
  '# Head',
  '- # Notes',
  '    code',
  '![a](b)',
  '[a]: b',
  '',
  '',
  '',
);
const indent = fc.constantFrom('', '', ' ', '  ', '   ', '    ', '      ', '\t');
/** Mostly line feeds; the other line ends of Markdown as well. */
const ending = fc.constantFrom('\n', '\n', '\n', '\n', '\r\n', '\r');
const markdown = fc.tuple(fc.array(fc.tuple(indent, piece), { maxLength: 12 }), ending).map(([lines, end]) =>
  lines
    .map(([before, text]) => before + text)
    .join('\n')
    .replaceAll('\n', end),
);

interface Node {
  type: string;
  checked?: boolean | null;
  children?: Node[];
  position: { start: { line: number; offset: number }; end: { line: number } };
}

const BOX_LINE = /^[\s>]*(?:(?:[-+*]|\d+[.)])[ \t]+)+\[[ xX\t]\][ \t]+\S/;

/**
 * The lines of checkboxes outside of quotes, after the parser. null: no examiner for this text, which
 * is where the parser throws, or where it departs from CommonMark's own reader: an empty or
 * numbered item that begins behind indented code.
 */
function examined(text: string): number[] | null {
  const lines = text.split(/\r\n?|\n/);
  const found = new Set<number>();
  let departs = false;
  const visit = (node: Node): void => {
    const line = node.position.start.line;
    const source = lines[line - 1] ?? '';
    const [head] = node.children ?? [];
    if (node.type === 'blockquote') return;
    if (node.type === 'code' && !/^[`~]/.test(text.slice(node.position.start.offset))) {
      const next = lines.slice(node.position.end.line).find((other) => other.trim() !== '');
      departs ||= /^[\s>]*(?:[-+*]\s*$|\d+[.)](?:\s|$))/.test(next ?? '');
    }
    // An underline makes the item's line a heading: a box all the same.
    const boxed = typeof node.checked === 'boolean' || (head?.type === 'heading' && !source.includes('#'));
    if (node.type === 'listItem' && boxed && head?.position.start.line === line && BOX_LINE.test(source)) {
      found.add(line);
    }
    for (const child of node.children ?? []) visit(child);
  };
  try {
    visit(fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }) as Node);
  } catch {
    return null;
  }
  return departs ? null : [...found].sort((a, b) => a - b);
}

function blocks(text: string): Block[] {
  const all: Block[] = [];
  walkBlocks(text, (block) => all.push(block));
  return all;
}

function scanned(text: string): number[] {
  return blocks(text).flatMap((block) =>
    block.kind === 'item' && block.box !== null && /^[ xX\t]$/.test(block.box.inner) && block.text !== ''
      ? [block.line]
      : [],
  );
}

/** A comment that begins within a text hides lines for us, not for Markdown. */
const opensMidLine = (text: string): boolean =>
  blocks(text).some((block) => block.kind !== 'heading' && block.text.includes('<!--'));

describe('the scanner sits the exam of a whole Markdown parser', () => {
  it('finds the same checkboxes, whatever stands around them', () => {
    let examinedTexts = 0;
    fc.assert(
      fc.property(markdown, (text) => {
        if (opensMidLine(text)) return;
        const expected = examined(text);
        if (expected === null) return;
        examinedTexts += 1;
        expect(scanned(text)).toEqual(expected);
      }),
      { numRuns: 4000 },
    );
    expect(examinedTexts).toBeGreaterThan(2000);
  });

  it('looks for the end of a comment that opens in a quote no further than the quote', () => {
    for (const text of ['   - > [ ] a\n\t<!--\n- [ ] task\n-->', '> a <!-- b\n\n- [ ] task\n\n-->']) {
      expect(scanned(text)).toEqual(examined(text));
      expect(scanned(text)).toHaveLength(1);
    }
  });

  const folder = join(import.meta.dirname, '../../test/fixtures/tasks/markdown');
  it.each(readdirSync(folder).filter((name) => name.endsWith('.md')))('%s', (name) => {
    const text = readFileSync(join(folder, name), 'utf8')
      .replace(/^\ufeff/, '')
      .replaceAll('\r\n', '\n');
    if (opensMidLine(text)) return;
    expect(scanned(text)).toEqual(
      examined(text.replace(/^---\n[\s\S]*?\n---\n/, (front) => front.replace(/[^\n]/g, ''))),
    );
  });

  it('reports offsets that lead to what it reports', () => {
    fc.assert(
      fc.property(markdown, (text) => {
        for (const block of blocks(text)) {
          if (block.kind === 'heading') expect(text.slice(block.start, block.end)).toBe(block.text);
          else if (block.text !== '') expect(text.startsWith(block.text, block.at)).toBe(true);
          if (block.kind !== 'item' || block.box === null) continue;
          expect(text.slice(block.box.start - 1, block.box.end + 1)).toBe(`[${block.box.inner}]`);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('texts that mean harm', () => {
  it.each([
    ['brackets', '['.repeat(100_000)],
    ['bullets in a row', `${'- '.repeat(50_000)}[ ] x`],
    ['quotes in a row', '>'.repeat(100_000)],
    ['comments never closed', 'a <!--\n'.repeat(30_000)],
    ['comments closed at the end', `${'a <!--\n'.repeat(30_000)}-->`],
    ['a staircase', Array.from({ length: 1000 }, (_, n) => `${' '.repeat(n * 2)}- [ ] x`).join('\n')],
    ['blank lines below deep bullets', `${'- '.repeat(60)}x${'\n'.repeat(200_000)}`],
    ['an unclosed fence', `\`\`\`\n${'- [ ] a\n'.repeat(50_000)}`],
    ['stars', '*'.repeat(100_000)],
    ['backticks', `${'`'.repeat(50_000)}a\`\n`.repeat(2)],
    ['spaces', `- [ ] dep${' '.repeat(100_000)}x`],
  ])('%s are read to the end', (_name, text) => {
    expect(blocks(text).length).toBeGreaterThanOrEqual(0);
  });
});
