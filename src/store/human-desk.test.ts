import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Question } from '../core/index.ts';
import type { DeskFile, DeskNews, HumanDesk } from '../engine/index.ts';
import { openDesk } from './desk.ts';
import { openHumanDesk } from './human-desk.ts';

let project: string;
let session: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'ralph-desk-'));
  session = join(project, '.ralph-sessions', '260101-120000');
  mkdirSync(session, { recursive: true });
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

/** A desk as a new process opens it. */
const open = (): HumanDesk => openHumanDesk(openDesk(project, session));
const place = (file: DeskFile) => join(project, 'ralph', file);
const text = (file: DeskFile) => readFileSync(place(file), 'utf8');
const edit = (file: DeskFile, change: (text: string) => string) =>
  writeFileSync(place(file), change(text(file)));
const copies = () => readdirSync(join(session, 'desk')).filter((name) => name.endsWith('.txt'));

const ask = (id: string, fields: Partial<Question> = {}): Question => ({
  id,
  kind: 'decision',
  about: 'task-1',
  text: `Which way for ${id}?`,
  options: [],
  default: null,
  hold: 'session',
  deadline: null,
  onTimeout: 'proceed',
  askedBy: 'claude',
  iteration: 3,
  askedAt: Date.UTC(2026, 0, 1, 12),
  ...fields,
});
const block = (id: string) => ask(id, { kind: 'blocker', text: `No credentials for ${id}.` });
const both = new Set<DeskFile>(['blocked.txt', 'decide.txt']);
const none = new Set<DeskFile>();
const outline = (news: DeskNews[]) =>
  news.map((each) => `${each.id} ${each.kind}${each.kind === 'answered' ? ` ${each.text}` : ''}`);

describe('open questions', () => {
  it('stand on the desk: blockers in blocked.txt, all others in decide.txt', async () => {
    const desk = open();
    const changed = await desk.show([ask('q1'), block('q2'), ask('q3', { kind: 'approval' })]);
    expect(changed.map(({ file }) => file)).toEqual(['blocked.txt', 'decide.txt']);
    expect(text('blocked.txt')).toContain('No credentials for q2.');
    expect(text('decide.txt')).toContain('## Question 1 [q1] (from iteration 3, 2026-01-01T12:00:00Z)');
    expect(text('decide.txt')).toContain('## Question 2 [q3]');
  });

  it('that did not change are not written again, by this process or the next', async () => {
    await open().show([ask('q1')]);
    const past = new Date(Date.now() - 60_000);
    utimesSync(place('decide.txt'), past, past);
    expect(await open().show([ask('q1')])).toEqual([]);
    expect(statSync(place('decide.txt')).mtimeMs).toBeCloseTo(past.getTime(), 0);
  });

  it('whose file is gone are written again', async () => {
    const desk = open();
    const [first] = await desk.show([ask('q1')]);
    rmSync(join(project, 'ralph'), { recursive: true });
    expect(await desk.show([ask('q1')])).toEqual([first]);
    expect(existsSync(place('decide.txt'))).toBe(true);
  });

  it('none left, the files go, and that is said once', async () => {
    const desk = open();
    await desk.show([ask('q1'), block('q2')]);
    expect(await desk.show([])).toEqual([
      { file: 'blocked.txt', sha256: null },
      { file: 'decide.txt', sha256: null },
    ]);
    expect(existsSync(place('decide.txt'))).toBe(false);
    expect(await desk.show([])).toEqual([]);
  });
});

describe('an answer', () => {
  it('is the text under the Answer heading, with the time it was written', async () => {
    const desk = open();
    await desk.show([ask('q1'), ask('q2')]);
    edit('decide.txt', (was) => was.replace('## Answer 2\n', '## Answer 2\nTake the left one.\n'));
    const news = await desk.look([ask('q1'), ask('q2')], both);
    expect(outline(news)).toEqual(['q2 answered Take the left one.']);
    expect(news[0]).toMatchObject({ file: 'decide.txt', writtenAt: statSync(place('decide.txt')).ctimeMs });
  });

  it('keeps the time of its change, whatever time its file was given', async () => {
    const desk = open();
    await desk.show([ask('q1')]);
    const before = Date.now() - 1_000;
    edit('decide.txt', (was) => `${was}Forged.\n`);
    for (const hours of [-2, 2]) {
      const set = new Date(Date.now() + hours * 3_600_000);
      utimesSync(place('decide.txt'), set, set);
      const [news] = await desk.look([ask('q1')], both);
      const { writtenAt } = news as { writtenAt: number };
      expect(writtenAt).toBeGreaterThan(before);
      expect(writtenAt).toBeLessThanOrEqual(Date.now() + 1_000);
    }
  });

  it('under the Answer heading of blocked.txt is one too', async () => {
    const desk = open();
    await desk.show([block('q1')]);
    edit('blocked.txt', (was) => `${was}The key is in the vault.\n`);
    expect(outline(await desk.look([block('q1')], both))).toEqual(['q1 answered The key is in the vault.']);
  });

  it('of nothing, blanks or comments is no news, and neither is an emptied file', async () => {
    const desk = open();
    await desk.show([ask('q1')]);
    for (const addition of ['', '\n  \n\t\n', '<!-- later -->\n', '# let me think\n']) {
      await desk.show([ask('q1')]);
      edit('decide.txt', (was) => was + addition);
      expect(await desk.look([ask('q1')], both)).toEqual([]);
    }
    writeFileSync(place('decide.txt'), '');
    expect(await desk.look([ask('q1')], both)).toEqual([]);
  });

  it('that could belong to either of two questions is unclear and says why', async () => {
    const desk = open();
    await desk.show([ask('q1'), ask('q2')]);
    writeFileSync(place('decide.txt'), 'yes, do it\n');
    const news = await desk.look([ask('q1'), ask('q2')], both);
    expect(news.map(({ kind }) => kind)).toEqual(['unclear', 'unclear']);
    expect(news[0]).toMatchObject({ reason: expect.stringContaining('several questions are open') });
  });

  it('is read by the next process against what this one wrote', async () => {
    await open().show([ask('q1')]);
    edit('decide.txt', (was) => `${was}Left.\n`);
    // q2 was asked after the file was written, and the process died before it could stand in it.
    expect(outline(await open().look([ask('q2'), ask('q1')], both))).toEqual(['q1 answered Left.']);
  });

  it('to a question that is closed is no answer to the one that took its place', async () => {
    await open().show([ask('q1'), ask('q2')]);
    edit('decide.txt', (was) => was.replace('## Answer 1\n', '## Answer 1\nRight.\n'));
    expect(await open().look([ask('q2')], both)).toEqual([]);
  });

  it('in a file that we never wrote answers nothing', async () => {
    mkdirSync(join(project, 'ralph'));
    writeFileSync(place('decide.txt'), '## Question (from iteration 1, 2025)\nOld?\n---\n## Answer\nYes.\n');
    expect(await open().look([ask('q1')], none)).toEqual([]);
  });
});

describe('clearing', () => {
  it('by deleting the file clears every question that stood in it', async () => {
    const desk = open();
    await desk.show([block('q1'), block('q2'), ask('q3')]);
    rmSync(place('blocked.txt'));
    expect(outline(await desk.look([block('q1'), block('q2'), ask('q3')], both))).toEqual([
      'q1 cleared',
      'q2 cleared',
    ]);
  });

  it('by deleting one block clears that one', async () => {
    const desk = open();
    await desk.show([ask('q1'), ask('q2')]);
    edit('decide.txt', (was) => was.slice(was.indexOf('## Question 2')));
    expect(outline(await desk.look([ask('q1'), ask('q2')], both))).toEqual(['q1 cleared']);
  });

  it('says nothing of a question that was asked after the file was written', async () => {
    await open().show([block('q1')]);
    rmSync(place('blocked.txt'));
    expect(outline(await open().look([block('q1'), block('q9')], both))).toEqual(['q1 cleared']);
  });

  it('tells when the file was last seen, so that an agent that swept it away clears nothing', async () => {
    const desk = open();
    await desk.show([block('q1')]);
    const seen = Date.now();
    rmSync(place('blocked.txt'));
    const [news] = await desk.look([block('q1')], both);
    expect(news).toMatchObject({ kind: 'cleared', seenAt: expect.any(Number) });
    expect((news as { seenAt: number }).seenAt).toBeLessThanOrEqual(seen);
    expect((await open().look([block('q1')], both))[0]).not.toHaveProperty('seenAt');
  });

  it('needs a file that the journal knows', async () => {
    expect(await open().look([block('q1')], none)).toEqual([]);
  });

  it('of a file we took off ourselves, in a moment before a crash, is no news', async () => {
    await open().show([block('q1')]);
    await open().show([]);
    expect(await open().look([block('q2')], both)).toEqual([]);
  });
});

describe('a file that a person is writing in', () => {
  it('keeps the half-written answer when another question comes', async () => {
    const desk = open();
    await desk.show([ask('q1')]);
    edit('decide.txt', (was) => `${was}Left, because\n`);
    await desk.show([ask('q1'), ask('q2')]);
    expect(text('decide.txt')).toContain('## Answer 1\nLeft, because\n');
    expect(text('decide.txt')).toContain('Which way for q2?');
    expect(outline(await desk.look([ask('q1'), ask('q2')], both))).toEqual(['q1 answered Left, because']);
  });

  it('keeps the time of an answer that is written anew, so that it grows no younger', async () => {
    const desk = open();
    await desk.show([ask('q1')]);
    edit('decide.txt', (was) => `${was}Left.\n`);
    const then = statSync(place('decide.txt')).ctimeMs;
    await sleep(30);
    await desk.show([ask('q1'), ask('q2')]);
    await open().show([ask('q1'), ask('q2'), ask('q3')]);
    const [news] = await open().look([ask('q1'), ask('q2'), ask('q3')], both);
    expect((news as { writtenAt: number }).writtenAt).toBe(then);
  });

  it('keeps a note beside the questions as a comment, and a copy in the session', async () => {
    const desk = open();
    await desk.show([ask('q1')]);
    const edited = `Remember: ask Ana --> first\n## Answer of mine\n${text('decide.txt')}`;
    writeFileSync(place('decide.txt'), edited);
    await desk.show([ask('q1'), ask('q2')]);
    expect(text('decide.txt')).toContain('Remember: ask Ana -- > first');
    expect(await desk.look([ask('q1'), ask('q2')], both)).toEqual([]);
    expect(copies().map((name) => readFileSync(join(session, 'desk', name), 'utf8'))).toEqual([edited]);
    await desk.show([ask('q2')]);
    expect(text('decide.txt')).toContain('Remember: ask Ana');
  });

  it('does not show an answer again that was taken', async () => {
    const desk = open();
    await desk.show([ask('q1'), ask('q2')]);
    edit('decide.txt', (was) => was.replace('## Answer 1\n', '## Answer 1\nLeft.\n'));
    await desk.look([ask('q1'), ask('q2')], both);
    await desk.show([ask('q2')]);
    expect(text('decide.txt')).not.toContain('Left.');
    expect(text('decide.txt')).not.toContain('q1');
  });

  it('and whose question was answered elsewhere goes into the session, not away', async () => {
    const desk = open();
    await desk.show([block('q1')]);
    edit('blocked.txt', (was) => `${was}I was about to say\n`);
    await desk.show([]);
    expect(existsSync(place('blocked.txt'))).toBe(false);
    expect(copies()).toEqual(['003-blocked.txt']);
    expect(readFileSync(join(session, 'desk', '003-blocked.txt'), 'utf8')).toContain('I was about to say');
  });

  it('that was there before us keeps its words', async () => {
    mkdirSync(join(project, 'ralph'));
    writeFileSync(place('decide.txt'), 'my own notes\n');
    const desk = open();
    await desk.show([ask('q1')]);
    expect(text('decide.txt')).toContain('my own notes');
    expect(await desk.look([ask('q1')], both)).toEqual([]);
  });

  it('never loses a line, whatever is written where and whichever questions come and go', async () => {
    const word = fc.stringMatching(/^[a-z]{4,8}[0-9]{4}$/);
    const line = fc.oneof(
      word,
      word.map((w) => `- ${w}`),
      word.map((w) => `<!-- ${w} -->`),
      word.map((w) => `## ${w}`),
    );
    const questions = fc.uniqueArray(fc.constantFrom('q1', 'q2', 'q3'), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(questions, questions, line, fc.nat(20), async (before, after, added, at) => {
        rmSync(join(project, 'ralph'), { recursive: true, force: true });
        rmSync(join(session, 'desk'), { recursive: true, force: true });
        await open().show(before.map((id) => ask(id)));
        const lines = text('decide.txt').split('\n');
        lines.splice(Math.min(at, lines.length), 0, added);
        writeFileSync(place('decide.txt'), lines.join('\n'));
        const changed = await open().show(after.map((id) => ask(id)));
        const needle = added.replace(/^\W+|\W+$/g, '');
        expect(text('decide.txt')).toContain(needle);
        if (changed.length > 0) expect(copies()).toHaveLength(1);
        for (const id of after) expect(text('decide.txt')).toContain(`Which way for ${id}?`);
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});

describe('a crash', () => {
  it('between the note and the file leaves the old file readable', async () => {
    await open().show([ask('q1')]);
    const old = text('decide.txt');
    const notes = readFileSync(join(session, 'desk', 'shown.json'), 'utf8');
    await open().show([ask('q1'), ask('q2')]);
    const both_ = JSON.parse(readFileSync(join(session, 'desk', 'shown.json'), 'utf8'));
    const before = JSON.parse(notes).files['decide.txt'];
    both_.files['decide.txt'] = [...before, ...both_.files['decide.txt']];
    writeFileSync(join(session, 'desk', 'shown.json'), JSON.stringify(both_));
    writeFileSync(place('decide.txt'), `${old}Left.\n`);
    expect(outline(await open().look([ask('q1'), ask('q2')], both))).toEqual(['q1 answered Left.']);
    await open().show([ask('q1'), ask('q2')]);
    expect(text('decide.txt')).toContain('## Question 2 [q2]');
    expect(text('decide.txt')).toContain('Left.');
  });

  it('or a person that loses our notes leaves the desk usable', async () => {
    await open().show([ask('q1')]);
    for (const damage of [
      () => rmSync(join(session, 'desk', 'shown.json')),
      () => writeFileSync(join(session, 'desk', 'shown.json'), '{"v":1,"fi'),
    ]) {
      damage();
      const desk = open();
      edit('decide.txt', (was) => (was.includes('Left.') ? was : `${was}Left.\n`));
      expect(outline(await desk.look([ask('q1')], both))).toEqual(['q1 answered Left.']);
      await desk.show([ask('q1')]);
      expect(text('decide.txt').match(/Which way for q1/g)).toHaveLength(1);
    }
  });
});

it('an answered decide.txt is archived with the session, and then gone from the desk', async () => {
  const desk = open();
  await desk.show([ask('q1')]);
  edit('decide.txt', (was) => `${was}Left.\n`);
  await desk.archive(4);
  expect(readFileSync(join(session, 'desk', '004-decide.txt'), 'utf8')).toContain('Left.');
  expect(await desk.show([])).toEqual([{ file: 'decide.txt', sha256: null }]);
});
