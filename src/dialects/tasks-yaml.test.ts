import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareTaskFile, readTaskList, writeMarks } from './index.ts';

const text = `# my list
project: Shop
tasks:
  - id: a   # the first
    title: Sell
    passes: false # not yet
    notes: |
      long
      text
  - {id: b, title: "Buy", dependsOn: [a]}

# the end
`;
const read = (yaml: string) => readTaskList('tasks.yaml', yaml);

describe('a task list in YAML', () => {
  it('reads stories and names the line of a fault', () => {
    expect(read(text)).toMatchObject({
      kind: 'list',
      project: 'Shop',
      tasks: [{ id: 'a' }, { id: 'b', dependsOn: ['a'] }],
    });
    expect(read(text.replace('passes: false', 'passes: maybe'))).toMatchObject({
      problem: { at: 'tasks.yaml:6' },
    });
    expect(read(`${text}tasks: []\n`)).toMatchObject({
      problem: { code: 'tasks.syntax', at: 'tasks.yaml:13' },
    });
    expect(read('a: &x 1\nb: *x\n').kind).toBe('unreadable');
    expect(read('')).toMatchObject({ kind: 'empty' });
    expect(read('# nothing\n')).toMatchObject({ kind: 'empty' });
    expect(read('tasks:\n')).toMatchObject({ kind: 'empty' });
  });

  it('a mark changes the value only, or adds the field in the story’s own form', () => {
    expect(writeMarks(text, [{ task: 'a', status: 'done' }], 'tasks.yaml')).toBe(
      text.replace('passes: false', 'passes: true'),
    );
    expect(writeMarks(text, [{ task: 'b', status: 'done' }], 'tasks.yaml')).toBe(
      text.replace('[a]}', '[a], passes: true}'),
    );
    const block = 'tasks:\r\n- id: a\r\n  title: |\r\n    words\r\n';
    const marked = writeMarks(block, [{ task: 'a', status: 'done' }], 'tasks.yaml');
    expect(marked).toBe('tasks:\r\n- passes: true\r\n  id: a\r\n  title: |\r\n    words\r\n');
    expect(writeMarks(marked, [{ task: 'a', status: 'done' }], 'tasks.yaml')).toBe(marked);
  });

  it('keeps an agent’s texts and new stories, and undoes the rest', () => {
    const after = text
      .replace('passes: false', 'passes: true')
      .replace('      text\n', '      text and more\n')
      .replace('\n# the end', '  - id: c\n    title: New\n    passes: true\n');
    const verdict = compareTaskFile({
      before: text,
      after,
      mode: 'implement',
      active: 'a',
      path: 'tasks.yaml',
    });
    expect(verdict).toMatchObject({
      marked: ['a'],
      violations: [{ detail: expect.stringContaining('already passed') }],
    });
    expect(verdict.reading).toMatchObject({ tasks: [{ status: 'todo' }, {}, { id: 'c', status: 'todo' }] });
    expect(verdict.restored).toContain('passes: false # not yet');
    expect(verdict.restored).toContain('# the end');
  });

  it('never throws', () => {
    const piece = fc.constantFrom(
      'tasks:',
      '- id: a',
      '  title: x',
      '  - id: b',
      '{',
      '[',
      '&a',
      '*a',
      '? x',
      '!!binary',
      '|',
      ': ',
      '---',
      '',
      'passes: true',
      '<<: *a',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((lines) => lines.join('\n')),
        ),
        (yaml) => {
          read(yaml);
          writeMarks(yaml, [{ task: 'a', status: 'done' }], 'tasks.yaml');
          compareTaskFile({ before: text, after: yaml, mode: 'implement', active: 'a', path: 'tasks.yaml' });
        },
      ),
    );
  });
});

describe('a key with nothing behind it', () => {
  it('is marked behind its colon, before a comment', () => {
    const text =
      'tasks:\n  - id: a\n    title: a\n    passes:\n  - id: b\n    title: b\n    passes:   # not yet\n';
    const marked = writeMarks(
      text,
      [
        { task: 'a', status: 'done' },
        { task: 'b', status: 'done' },
      ],
      'tasks.yaml',
    );
    expect(marked).toBe(
      text.replace('passes:\n', 'passes: true\n').replace('passes:   #', 'passes: true   #'),
    );
    const reading = readTaskList('tasks.yaml', marked);
    expect(reading.kind === 'list' && reading.tasks.map(({ status }) => status)).toEqual(['done', 'done']);
  });

  it.each([
    ['without a colon', 'tasks:\n  - {id: a, title: x, urgent}\n'],
    ['behind a question mark', '? tasks\n:\n- ? id\n  : a\n  title: a\n'],
  ])('is refused %s, because a mark has no safe place there', (_, text) => {
    expect(readTaskList('tasks.yaml', text)).toMatchObject({
      kind: 'unreadable',
      problem: { code: 'tasks.syntax' },
    });
  });
});
