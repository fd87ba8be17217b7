/** What a task looks like, read from its words; and how often that is what a person calls it. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { COMPLEXITIES, type Complexity, classify, DEFAULT_CLASSES } from './complexity.ts';
import { taskOf } from './test-facts.ts';

interface Labelled {
  n: number;
  style: string;
  label: Complexity;
  title: string;
  description?: string;
  acceptance?: string[];
}

const folder = new URL('../../test/fixtures/complexity/', import.meta.url);

function half(name: string): Labelled[] {
  const file = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as { tasks: Labelled[] };
  return file.tasks;
}

const classOf = (title: string, acceptance: string[] = [], classes = DEFAULT_CLASSES) =>
  classify(taskOf('t', { title, acceptance }), classes);

describe('the class of a task', () => {
  test.each([
    ['Add a chart of sales', 'ui_heavy'],
    ['Two views and three charts', 'ui_heavy'],
    ['HTTPView', 'ui_heavy'],
    ['renderBarChart', 'ui_heavy'],
    ['user_profile_view', 'ui_heavy'],
    ['split-view for tablets', 'ui_heavy'],
    ['swiftui', 'ui_heavy'],
    ['SWIFTUI', 'ui_heavy'],
    ['the APIs of both UIs', 'ui_heavy'],
    ['TokenStreamParser', 'complex'],
    ['CLIs for both', 'complex'],
    ['fix the fixtures', 'medium'],
    ['UPDATE the year', 'simple'],
    ['Fixes of last week', 'simple'],
    ['', 'medium'],
    ['🙂 …', 'medium'],
  ])('%s: %s', (title, level) => {
    expect(classOf(title).level).toBe(level);
  });

  test.each(
    'build review latest fixed-point additional commander recommend prefix attest contest uid guid preview suite viewer charter uncharted testament mockery dashboards-less updateable tests-not'
      .split(' ')
      .filter((word) => !/^(fixed|dashboards|tests)-/.test(word)),
  )('a word inside of another is none: %s', (word) => {
    const { level, because } = classOf(`the ${word} of it`);
    expect([level, because]).toEqual(['medium', 'no keyword says otherwise']);
  });

  test('comes from the strongest word, wherever it stands, and is told with it', () => {
    const def = {
      title: 'Fix sales',
      description: 'a parser',
      acceptance: ['none', 'a Chart of it', 'a view'],
    };
    expect(classify(def, DEFAULT_CLASSES)).toEqual({
      level: 'ui_heavy',
      because: "of 'Chart' in acceptance 2",
    });
    expect(classOf('Fix it').because).toBe("of 'Fix' in the title");
  });

  test('is one higher with more than three criteria, and never higher than the highest', () => {
    const criteria = (n: number) => Array.from({ length: n }, (_, i) => `point ${i + 1}`);
    expect(classOf('Fix it', criteria(3)).level).toBe('simple');
    expect(classOf('Fix it', criteria(4))).toEqual({
      level: 'medium',
      because: "of 'Fix' in the title, and 4 acceptance criteria raise it from simple",
    });
    expect(classOf('Do it', criteria(4))).toEqual({
      level: 'complex',
      because: '4 acceptance criteria raise it from medium',
    });
    expect(classOf('A chart', criteria(9))).toEqual({
      level: 'ui_heavy',
      because: "of 'chart' in the title",
    });
  });

  test('follows the keywords of a project, phrases and other scripts too', () => {
    const classes = {
      ...DEFAULT_CLASSES,
      complex: { multiplier: 2, keywords: ['ledger entry', 'GraphQL'] },
      ui_heavy: { multiplier: 3, keywords: ['画面', 'Ansicht'] },
    };
    expect(classOf('One ledger', [], classes).level).toBe('medium');
    expect(classOf('Two ledger-entries', [], classes)).toEqual({
      level: 'complex',
      because: "of 'ledger entries' in the title",
    });
    expect(classOf('the graphql part', [], classes).level).toBe('complex');
    expect(classOf('ログイン画面のデザイン', [], classes).level).toBe('ui_heavy');
    expect(classOf('ANSICHT', [], classes).level).toBe('ui_heavy');
    expect(classOf('A chart', [], classes).level).toBe('medium');
  });

  test('no text is too strange', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, fc.array(text, { maxLength: 6 }), (title, description, acceptance) => {
        const { level } = classify({ title, description, acceptance }, DEFAULT_CLASSES);
        expect(COMPLEXITIES).toContain(level);
      }),
    );
  });
});

describe('against what a person calls the work', () => {
  const right = (tasks: Labelled[]) =>
    tasks.filter(({ title, description = '', acceptance = [], label }) => {
      return classify({ title, description, acceptance }, DEFAULT_CLASSES).level === label;
    });

  test('the texts are enough, in enough styles, in two halves by their number', () => {
    const [tuning, heldOut] = [half('tuning'), half('held-out')];
    expect(tuning.length + heldOut.length).toBeGreaterThanOrEqual(120);
    expect(new Set([...tuning, ...heldOut].map(({ style }) => style)).size).toBeGreaterThanOrEqual(6);
    expect(tuning.every(({ n }) => n % 4 < 2)).toBe(true);
    expect(heldOut.every(({ n }) => n % 4 >= 2)).toBe(true);
  });

  // The floor of the held-out half is below its figure, so that a keyword may change; the figure is printed.
  test.each([
    ['tuning', 0.85],
    ['tuning-more', 0.85],
    ['held-out', 0.75],
  ])('%s: at least %f of the texts', (name, least) => {
    const tasks = half(name);
    const hits = right(tasks).length;
    const percent = ((100 * hits) / tasks.length).toFixed(1);
    process.stdout.write(`classifier, ${name}: ${hits} of ${tasks.length} = ${percent} %\n`);
    expect(hits / tasks.length).toBeGreaterThanOrEqual(least);
  });
});
