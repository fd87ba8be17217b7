/** Markdown plans as people write them: what each says stands beside it, and marks are all that is written. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChecklistItem, readChecklist, statusesOf } from './checklist.ts';
import { compareTaskFile, readTaskList, writeMarks } from './index.ts';

const FOLDER = join(import.meta.dirname, '../../test/fixtures/tasks/markdown');
const fixtures = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.md'))
  .map((name): [string, string] => [name, readFileSync(join(FOLDER, name), 'utf8')]);

/** The reading in words: one block a task. */
function described(name: string, text: string): string {
  const reading = readTaskList(name, text);
  if (reading.kind === 'empty') return 'no task\n';
  if (reading.kind === 'unreadable') {
    const { code, what, fix, at } = reading.problem;
    return `${code} at ${at}: ${what}; ${fix}\n`;
  }
  const lines = [`project: ${reading.project}`];
  for (const task of reading.tasks) {
    lines.push('', `${task.id}  ${task.status}  ${task.title}`);
    if (task.priority !== 0) lines.push(`  priority ${task.priority}`);
    if (task.dependsOn.length > 0) lines.push(`  after ${task.dependsOn.join(', ')}`);
    if (task.files.length > 0) lines.push(`  files ${task.files.join(', ')}`);
    if (task.sequential) lines.push('  alone');
    if (task.changes === 'none') lines.push('  changes nothing');
    for (const criterion of task.acceptance) lines.push(`  - ${criterion}`);
    for (const line of task.description === '' ? [] : task.description.split('\n')) lines.push(`  > ${line}`);
  }
  for (const warning of reading.warnings) lines.push('', `! ${warning}`);
  return `${lines.join('\n')}\n`;
}

/** The text without its task's mark: what no marking may change. */
function withoutMark(text: string, { mark }: ChecklistItem): string {
  const spans = mark.kind === 'boxes' ? [...mark.boxes, mark.tick] : [mark];

  const ordered = [...spans].sort((a, b) => b.start - a.start);
  return ordered.reduce((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text);
}

/** A mark that is spelled as we would: another spelling is not remembered. */
function isCanonical(text: string, { mark, task }: ChecklistItem): boolean {
  if (mark.kind === 'boxes') return mark.boxes.every(({ inner }) => inner === ' ' || inner === 'x');
  if (mark.kind === 'word') return true;
  const inner = text.slice(mark.start, mark.end);
  return task.status === 'done' ? inner === 'x' : task.status === 'todo' && inner === ' ';
}

function marksOnly(text: string, item: ChecklistItem): void {
  const { id, status } = item.task;
  const done = writeMarks(text, [{ task: id, status: 'done' }], 'PRD.md');
  const items = readChecklist(done).items;
  const now = items.find(({ task }) => task.id === id);
  if (now === undefined) throw new Error(`${id} is gone from ${JSON.stringify(done)}`);
  expect(withoutMark(done, now)).toBe(withoutMark(text, item));
  expect(statusesOf(items)).toEqual(statusesOf(readChecklist(text).items).set(id, 'done'));
  expect(writeMarks(done, [{ task: id, status: 'done' }], 'PRD.md')).toBe(done);
  if (isCanonical(text, item)) expect(writeMarks(done, [{ task: id, status }], 'PRD.md')).toBe(text);
}

describe.each(fixtures)('%s', (name, text) => {
  it('says what stands beside it', async () => {
    await expect(described(name, text)).toMatchFileSnapshot(
      join(FOLDER, name.replace('.md', '.expected.txt')),
    );
  });

  it('a task marked done changes its mark alone, and open again nothing', () => {
    if (readTaskList(name, text).kind !== 'list') return;
    for (const item of readChecklist(text).items) marksOnly(text, item);
  });

  it('reads the same with other line endings and a byte-order mark', () => {
    const feeds = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
    const mixed = `\ufeff${feeds.replaceAll('\n', '\r\n')}`;
    for (const other of [feeds, mixed, feeds.replaceAll('\n', '\r')]) {
      expect(described(name, other)).toBe(described(name, text));
    }
  });

  it('an agent that ticks its own task claims it, and everything is put back', () => {
    if (readTaskList(name, text).kind !== 'list') return;
    for (const { task } of readChecklist(text).items) {
      if (task.status === 'done') continue;
      const after = writeMarks(text, [{ task: task.id, status: 'done' }], name);
      const verdict = compareTaskFile({
        before: text,
        after,
        mode: 'implement',
        active: task.id,
        path: name,
      });
      expect(verdict).toMatchObject({ marked: [task.id], violations: [], restored: text });
    }
  });
});

it('there are many', () => expect(fixtures.length).toBeGreaterThanOrEqual(35));

describe('plans made of pieces of all fixtures', () => {
  const paragraphs = fixtures.flatMap(([, text]) => text.replaceAll('\r\n', '\n').split('\n\n'));
  const plan = fc.array(fc.constantFrom(...paragraphs), { maxLength: 12 }).map((parts) => parts.join('\n\n'));

  it('marks change marks, whatever stands around them', () => {
    fc.assert(
      fc.property(plan, fc.boolean(), fc.nat(), (plain, crlf, pick) => {
        const text = crlf ? plain.replaceAll('\n', '\r\n') : plain;
        if (readTaskList('PRD.md', text).kind !== 'list') return;
        const { items } = readChecklist(text);
        marksOnly(text, items[pick % items.length]!);
      }),
      { numRuns: 500 },
    );
  });

  const edit = fc.tuple(
    fc.nat(),
    fc.constantFrom<Edit>('tick', 'open', 'delete', 'twice', 'indent', 'words', 'fence'),
  );
  const edited = fc.tuple(plan, fc.array(edit, { maxLength: 5 })).map(([before, edits]): [string, string] => {
    const lines = before.split('\n');
    for (const [pick, kind] of edits) editLine(lines, pick % lines.length, kind);
    return [before, lines.join('\n')];
  });

  it('no edit of an agent loses a task or moves one, and what is put back needs no more of it', () => {
    fc.assert(
      fc.property(fc.oneof(edited, fc.tuple(plan, plan)), fc.nat(), ([before, after], pick) => {
        if (readTaskList('PRD.md', before).kind !== 'list') return;
        const { items } = readChecklist(before);
        const active = items[pick % Math.max(1, items.length)]?.task.id ?? '';
        const compare = (text: string) =>
          compareTaskFile({ before, after: text, mode: 'implement', active, path: 'PRD.md' });
        const { restored } = compare(after);
        const now = statusesOf(readChecklist(restored).items);
        for (const { task } of items) expect(now.get(task.id)).toBe(task.status);
        // A beginning of the old text looks cut off.
        if (before !== restored && before.startsWith(restored)) return;
        expect(compare(restored)).toMatchObject({ marked: [], violations: [], restored });
      }),
      { numRuns: 500 },
    );
  });
});

type Edit = 'tick' | 'open' | 'delete' | 'twice' | 'indent' | 'words' | 'fence';

/** One thing an agent does to a line, in its place. */
function editLine(lines: string[], at: number, kind: Edit): void {
  const line = lines[at] ?? '';
  const changed: Record<Edit, string[]> = {
    tick: [
      line
        .replace('[ ]', '[x]')
        .replace(/(Status:\*\* ).*/, '$1Done')
        .replace(/^(#+ .*)/, '$1 ✅'),
    ],
    open: [line.replace('[x]', '[ ]').replace(/(Status:\*\* ).*/, '$1Pending')],
    delete: [],
    twice: [line, line],
    indent: [`  ${line}`],
    words: [`${line} and more`],
    fence: [line, '```'],
  };
  lines.splice(at, 1, ...changed[kind]);
}
