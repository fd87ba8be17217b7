import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canonicalTasks, readTaskList } from './index.ts';

const ROOT = join(import.meta.dirname, '../../test/fixtures/tasks');
const files = ['json', 'yaml', 'markdown'].flatMap((kind) =>
  readdirSync(join(ROOT, kind)).map((name) => ({ name, text: readFileSync(join(ROOT, kind, name), 'utf8') })),
);

describe('any list as tasks.json', () => {
  it.each(files)('$name reads the same', ({ name, text }) => {
    const reading = readTaskList(name, text);
    if (reading.kind !== 'list') return;
    const canonical = canonicalTasks({ path: name, text, reading });
    const again = readTaskList('ralph/tasks.json', canonical);
    if (again.kind !== 'list') throw new Error(JSON.stringify(again));
    expect(again.tasks).toEqual(reading.tasks);
    const { reviewed, gates, project, description, blocked } = reading;
    expect(again).toMatchObject({ reviewed, gates, project, description, ...(blocked && { blocked }) });
    expect(canonicalTasks({ path: 'ralph/tasks.json', text: canonical, reading: again })).toBe(canonical);
  });

  it('fields that nobody here knows go along', () => {
    const text = '[{"name": "A", "key": 4, "owner": {"name": "Ada"}, "notes": "n", "completed": false}]';
    const reading = readTaskList('x.json', text);
    if (reading.kind !== 'list') throw new Error(reading.kind);
    expect(JSON.parse(canonicalTasks({ path: 'x.json', text, reading }))).toEqual({
      project: '',
      description: '',
      userStories: [
        {
          id: '4',
          title: 'A',
          description: '',
          priority: 0,
          dependsOn: [],
          passes: false,
          owner: { name: 'Ada' },
          notes: 'n',
        },
      ],
    });
  });
});
