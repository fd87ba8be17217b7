import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTaskList, repairTaskFile } from './index.ts';

const loose = `{
  // who it is for
  "project": "Kiosk", /* short */ "description": "a // b, ] /* c */",
  "userStories": [
    { "id": "K-1", "title": "Print a ticket", "passes": false, }, # first
    /* later:
    { "id": "K-2" } */
    { "id": "K-3", "title": "Refund", "passes": false },
  ],
}
`;

describe('repairing a task file', () => {
  it('comments and trailing commas go, each named with its line; every value stays', () => {
    const repair = repairTaskFile('prd.json', loose)!;
    expect(repair.text).toBe(`{
  "project": "Kiosk", "description": "a // b, ] /* c */",
  "userStories": [
    { "id": "K-1", "title": "Print a ticket", "passes": false },
    { "id": "K-3", "title": "Refund", "passes": false }
  ]
}
`);
    expect(repair.changes).toEqual([
      { lines: [2, 3, 5, 6], what: 'comments were removed' },
      { lines: [5, 8, 9], what: 'trailing commas were removed' },
    ]);
    expect(readTaskList('prd.json', repair.text)).toMatchObject({ tasks: [{ id: 'K-1' }, { id: 'K-3' }] });
  });

  it('keeps a byte-order mark and Windows line endings', () => {
    const text = `\ufeff${loose.replaceAll('\n', '\r\n')}`;
    const repair = repairTaskFile('prd.json', text)!;
    expect(repair.text.startsWith('\ufeff{\r\n  "project"')).toBe(true);
    expect(repair.text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });

  it('does nothing to a plain file, and nothing where no repair helps', () => {
    for (const text of [
      '[]',
      '{"a": 1}',
      '',
      '{"a": }',
      '// only words',
      '{"a": "never closed',
      '{,}',
      '[1,,]',
    ]) {
      expect(repairTaskFile('tasks.json', text)).toBeNull();
    }
    expect(repairTaskFile('PRD.md', '- [ ] one, // two')).toBeNull();
  });

  it('replaces tabs that indent YAML', () => {
    const text = 'tasks:\n\t- id: a\n\t  title: "A\\tB"\n\t  passes: false # a\tb\n';
    const repair = repairTaskFile('tasks.yaml', text)!;
    expect(repair.text).toBe('tasks:\n  - id: a\n    title: "A\\tB"\n    passes: false # a\tb\n');
    expect(repair.changes).toEqual([
      { lines: [2, 3, 4], what: 'tabs at the beginning were replaced by blanks' },
    ]);
    const reading = readTaskList('tasks.yaml', text);
    expect(reading).toMatchObject({
      problem: { fix: expect.stringContaining('ralph import tasks.yaml --fix') },
    });
  });

  it('replaces the carriage returns of old machines in YAML', () => {
    const text = 'tasks:\r  - id: a\r    title: A\r';
    expect(readTaskList('tasks.yaml', text)).toMatchObject({
      problem: { code: 'tasks.syntax', at: 'tasks.yaml:1', fix: expect.stringContaining('--fix') },
    });
    const repair = repairTaskFile('tasks.yaml', text)!;
    expect(repair.text).toBe(text.replaceAll('\r', '\n'));
    expect(repair.changes).toEqual([
      { lines: [1, 2, 3], what: 'carriage returns were replaced by line feeds' },
    ]);
    expect(readTaskList('tasks.yaml', repair.text)).toMatchObject({ tasks: [{ id: 'a' }] });
  });

  it('loosened text comes back with the same values, and no text makes it throw', () => {
    const comment = fc.constantFrom('', ' ', '/* " */', '// x\n', '# y\n', '\n');
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.array(comment, { minLength: 1 }), (value, comments) => {
        let n = 0;
        const next = () => comments[n++ % comments.length]!;
        const write = (part: unknown): string => {
          if (Array.isArray(part))
            return `[${part.map((item) => `${next()}${write(item)}${next()},`).join('')}${next()}]`;
          if (typeof part !== 'object' || part === null) return JSON.stringify(part);
          const entries = Object.entries(part).map(
            ([key, item]) => `${next()}${JSON.stringify(key)}${next()}:${write(item)},`,
          );
          return `{${entries.join('')}${next()}}`;
        };
        const text = write({ value });
        const repair = repairTaskFile('tasks.json', text);
        expect(JSON.parse(repair?.text ?? text)).toEqual(JSON.parse(JSON.stringify({ value })));
      }),
    );
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('a.json', 'a.yaml', 'a.md'), (text, path) => {
        repairTaskFile(path, text);
      }),
    );
  });
});
