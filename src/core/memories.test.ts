import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Memory, memoriesFor, memoryBlock, readMemories, searchMemories, tagOf } from './memories.ts';

const memory = (text: string, over: Partial<Memory> = {}): Memory => ({
  id: 'mem-1-a',
  text,
  tags: [],
  created: '2026-02-08T14:30:00.000Z',
  ...over,
});

describe('memories', () => {
  it('a line that nobody would write is read as fast as any other', () => {
    const wide = ' '.repeat(100_000);
    expect(readMemories(`<!-- tags:${wide}x`)).toHaveLength(1);
    expect(
      readMemories(`a fact\n<!-- tags: a${'-'.repeat(300_000)}b | created: x -->`)[0]!.tags,
    ).toHaveLength(1);
    expect(readMemories('a fact\n<!-- tags: a, b created: 2026 -->')).toEqual([
      { id: '', text: 'a fact', tags: ['a', 'b'], created: '2026' },
    ]);
    expect(readMemories('<!-- a remark -->')[0]!.text).toBe('<!-- a remark -->');
  });

  it('what is written is read back, whatever it says', () => {
    const line = fc.string({ maxLength: 40 }).map((text) => text.replace(/[\r\n]/g, ' '));
    const text = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n').trim());
    const plain = (said: string) =>
      said
        .split('\n')
        .map((one) => one.trimEnd())
        .join('\n')
        .trim();
    fc.assert(
      fc.property(
        fc.array(
          text.filter((said) => plain(said) !== ''),
          { maxLength: 4 },
        ),
        (texts) => {
          const written = texts.map((said, n) => memory(said, { id: `mem-${n}-a`, tags: ['a', 'b'] }));
          const read = readMemories(`# Memories\n\n${written.map(memoryBlock).join('\n')}`);
          expect(read.map((one) => ({ ...one, text: plain(one.text) }))).toEqual(
            written.map((one) => ({ ...one, text: plain(one.text) })),
          );
        },
      ),
    );
  });

  it('never fails on any text', () => {
    fc.assert(fc.property(fc.string(), (text) => void readMemories(text)));
  });

  it('a person may write paragraphs, headings and blocks of their own', () => {
    const text = `# Memories

Tabs, not spaces.

## Build

- make needs GNU make
- and bash

### mem-1-a
> Port 4000 is taken.
<!-- tags: ports | created: 2026-02-08T14:30:00Z -->
`;
    expect(readMemories(text).map(({ text: said, tags }) => [said, tags])).toEqual([
      ['Tabs, not spaces.', []],
      ['make needs GNU make', []],
      ['and bash', []],
      ['Port 4000 is taken.', ['ports']],
    ]);
  });

  it('those that fit the work come first, then the newest, and no half one', () => {
    const all = [
      memory('The parser keeps comments.'),
      memory('Deploy with make ship.'),
      memory('Use tabs.'),
      memory('x'.repeat(500)),
    ];
    expect(memoriesFor(all, 'Fix the parser so that it keeps a comment', 100)).toBe(
      '- The parser keeps comments.\n- Use tabs.\n- Deploy with make ship.',
    );
    expect(memoriesFor(all, 'Fix the parser', 8)).toBe('- The parser keeps comments.');
    expect(memoriesFor(all, 'Fix the parser', 0)).toBe('');
  });

  it('a search finds words and tags, and nothing else', () => {
    const all = [memory('Run the tests with npm.'), memory('Tabs.', { tags: ['style'] })];
    expect(searchMemories(all, 'testing').map(({ text }) => text)).toEqual(['Run the tests with npm.']);
    expect(searchMemories(all, 'style').map(({ text }) => text)).toEqual(['Tabs.']);
    expect(searchMemories(all, 'the')).toEqual([]);
  });

  it('a tag is one word', () => {
    expect([' Unit Tests ', '---', 'a,b | c'].map(tagOf)).toEqual(['unit-tests', '', 'a-b-c']);
  });
});
