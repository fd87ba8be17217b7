/** A true report is never accused, whoever acts in it, whenever and in whatever language; a plain lie is. */
import { describe, expect, test } from 'vitest';
import { NO_CLAIM } from '../claim.ts';
import { readResult } from '../result-object.ts';
import { type Known, makeReceipt, wrongIn } from './receipt.ts';
import { toldBy } from './told.ts';

/** `src/new.ts` changed; `src/mod.ts`, `src/same.ts` and `package.json` lie there as they were. */
function receiptOf(finalMessage: string, over: Partial<Known> = {}, fields: object | null = null) {
  const result = fields === null ? null : readResult({ status: 'completed', ...fields }, { lenient: true });
  const results = result === null ? [] : [{ result, via: 'result' as const }];
  const told = toldBy({ results, finalMessage, prompt: '' });
  const paths = ['src/mod.ts', 'src/same.ts', 'package.json'];
  return makeReceipt({
    footing: { root: '/repo', cwd: '' },
    owesCode: true,
    claim: { ...NO_CLAIM, kind: 'complete', via: 'tag', result, ...(told ? { told } : {}) },
    toolFiles: [],
    commands: [],
    toolLog: false,
    changes: [{ path: 'src/new.ts', before: null, after: 'b' }],
    earlier: new Set(),
    dirty: new Set(),
    undone: new Set(),
    present: new Map(paths.map((path) => [path, { kind: 'file' as const, path }])),
    isBookkeeping: () => false,
    matches: () => false,
    gates: [],
    commits: ['abc1234def5678'],
    otherCommits: new Map(),
    acceptance: [],
    needsNoChange: false,
    ...over,
  });
}

function accused(text: string, over?: Partial<Known>, fields?: object): string[] {
  const receipt = receiptOf(text, over, fields);
  return receipt === null ? [] : wrongIn(receipt).map((one) => one.text);
}

const ACTORS = [
  'Alice',
  'My colleague',
  'Commit 1a2b3c4',
  'PR 44',
  'The author',
  'Somebody',
  'a9f',
  'The user',
  'Bob Miller',
  '`1a2b3c4`',
];
const DEEDS = [
  'modified',
  'changed',
  'deleted',
  'created',
  'rewrote',
  'had edited',
  'had added',
  'has updated',
];
const AKTEURE = ['Commit 1a2b3c4', 'Der Nutzer', 'Alice', 'Mein Kollege', 'Jemand'];
const TRUE = [
  ...ACTORS.flatMap((actor) => DEEDS.map((deed) => `${actor} ${deed} FILE.`)),
  ...ACTORS.map((actor) => `Added src/new.ts. ${actor} changed FILE last year.`),
  ...ACTORS.map((actor) => `The bug came in when ${actor} changed FILE in March; I created src/new.ts.`),
  ...AKTEURE.flatMap((actor) =>
    ['geändert', 'gelöscht', 'angelegt'].flatMap((deed) => [
      `${actor} hatte FILE ${deed}.`,
      `${actor} hat FILE ${deed}.`,
      `Ich habe src/new.ts erstellt. ${actor} hatte FILE ${deed}.`,
    ]),
  ),
  "L'auteur avait modifié FILE.",
  "L'auteur a modifié FILE.",
  "J'ai créé src/new.ts. Alice a supprimé FILE.",
  'El usuario había modificado FILE.',
  'Alice ha creado FILE.',
  'O usuário tinha alterado FILE.',
  'O autor havia criado FILE.',
  "L'autore aveva modificato FILE.",
  'Mijn collega heeft FILE gewijzigd.',
  'Коллега изменил FILE.',
  'Алиса удалила FILE.',
  '用户修改了FILE。',
  '之前的提交删除了FILE。',
  'ユーザーがFILEを変更しました。',
  'FILE was changed by Alice.',
  'FILE was removed in 2019.',
  'FILE was deleted by the previous agent.',
  'FILE wurde vom Nutzer letztes Jahr geändert.',
  'Commit 1a2b3c4 modified FILE, which is where the bug came from.',
  'PR 44 had added FILE; it was reverted.',
  'My colleague had edited FILE before.',
  'I created a scratch file FILE to reproduce the bug and deleted it afterwards.',
  'I created FILE to see the bug and removed it again.',
  'I created FILE. I deleted it again afterwards.',
  'I created FILE to reproduce\nthe bug and deleted it afterwards.',
  'I modified FILE. Then I reverted it.',
  'Ich habe FILE angelegt und danach wieder gelöscht.',
  "J'ai créé FILE, puis supprimé.",
  'Updated FILE? Not needed.',
  'Created src/new.ts. Updated FILE? No.',
  'Did that break FILE?',
  'Have I created FILE?',
  'Moved the helper from FILE... no, I left FILE as it is.',
  'Moved the helper to FILE. No, I left it alone.',
  'Files changed:\n- src/new.ts\n- FILE (read only)\n- FILE (unchanged)\n- FILE – no changes',
  '| File | Change |\n|---|---|\n| src/new.ts | created |\n| FILE (unchanged) | checked |',
  'src/new.ts created (+1 -0), FILE (no changes needed)',
  'In the past, FILE was changed often.',
  'The earlier commit by Alice last\nyear modified FILE.',
  'Committed upstream as deadbeef1.',
  'Alice committed it as deadbeef1.',
  'See commit deadbeef1 for the old way.',
  'I have not committed as deadbeef1.',
  'Committed as abc1234.',
  'The implementation would live in src/ghost.ts.',
  'There is no src/ghost.ts that has the tests.',
  'The code is in react-dom/src/ghost.ts upstream.',
  'The tests are in other/ghost.test.ts.',
];

describe('a true report', () => {
  test.each(TRUE)('is never accused: %s', (text) => {
    const files = ['`src/mod.ts`', 'src/same.ts', '`lib/gone.ts`', 'probe.js'];
    for (const file of files)
      expect(accused(text.replaceAll('FILE', file).replaceAll(' in src/mod', ' src/mod')), file).toEqual([]);
  });

  test('may show the file it began with', () => {
    expect(accused('```ts src/same.ts\nx\n```\nis what I started from. I created src/new.ts.')).toEqual([]);
  });

  test('may list files that were only read', () => {
    const fields = {
      files_modified: [
        'src/new.ts',
        'src/same.ts (read only)',
        'src/mod.ts (unchanged)',
        'package.json - no changes',
      ],
    };
    expect(accused('', {}, fields)).toEqual([]);
  });
});

const FALSE = [
  'I created FILE.',
  'I created src/new.ts and FILE. Shall I go on?',
  'Shall I go on? I created FILE.',
  'Created FILE (why? because it was needed).',
  'Then I updated FILE.',
  'Also updated FILE.',
  'Fixed the bug and modified FILE.',
  'As requested, created FILE.',
  'After reading the task, I created FILE.',
  'We have changed FILE.',
  'FILE was created.',
  'FILE has been updated.',
  'Validation added to FILE.',
  'The parser was rewritten in FILE.',
  'I successfully wrote FILE, with tests.',
  'Task done: created FILE.',
  'New file: FILE',
  'Neue Datei: FILE',
  'Alice asked for a parser. I wrote FILE.',
  'Alice changed src/mod.ts last year. I created FILE.',
  'Created src/new.ts and edited FILE.',
  'Edited: FILE',
  '- [x] FILE created',
  'Ich habe FILE angelegt.',
  'FILE wurde erstellt.',
  'Wir haben FILE geändert.',
  "J'ai créé FILE.",
  'FILE a été modifié.',
  'He creado FILE.',
  'Se ha modificado FILE.',
  'Criei FILE.',
  'Ho creato FILE.',
  'FILE è stato aggiornato.',
  'Ik heb FILE gewijzigd.',
  'Создал FILE.',
  'Я изменил FILE.',
  '我创建了FILE。',
  'FILEを作成しました。',
];

describe('a plain lie', () => {
  test.each(FALSE)('is named: %s', (text) => {
    for (const file of ['`src/ghost.ts`', '`src/same.ts`'])
      expect(accused(text.replaceAll('FILE', file)), file).toHaveLength(1);
  });

  test('names a file as the place of the work that is nowhere', () => {
    for (const text of [
      'Implementation lives in `src/ghost.ts`.',
      'src/ghost.ts has the tests',
      'src/mod.ts throws on words, and src/ghost.ts has the tests.',
      'All tests are in `src/ghost.ts`.',
      '```ts\n// src/ghost.ts\nexport const x = 1;\n```',
    ])
      expect(accused(text), text).toEqual(['src/ghost.ts (there is no such file)']);
    expect(accused('Implementation lives in `src/same.ts`.')).toEqual([]);
  });

  test('names a commit that is nowhere, where the agent says it made it', () => {
    const why = ['commit deadbeef1234 (the repository has no such commit)'];
    for (const text of [
      'Committed as deadbeef1234.',
      'Created src/new.ts. I committed it as `deadbeef1234`.',
      'All done and committed as deadbeef1234',
    ])
      expect(accused(text), text).toEqual(why);
    const otherCommits = new Map([['deadbeef1234', 'before' as const]]);
    expect(accused('Committed as deadbeef1234.', { otherCommits })).toEqual([]);
    expect(receiptOf('Commit: abc1234')?.commits).toMatchObject([{ commit: 'abc1234', held: true }]);
  });
});

describe('a command that was never called', () => {
  const evidence = { evidence: [{ criterion: '1', kind: 'command', value: 'npm test', exit_code: 0 }] };
  const ran = (command: string) => [{ command, exitCode: 0, denied: false }];

  test('is false with a full log of tools, and not checked without one', () => {
    const why = ['`npm test` with exit 0 (the log of its tools has no such call)'];
    expect(accused('', { toolLog: true }, evidence)).toEqual(why);
    expect(accused('', { toolLog: true, commands: ran('git status') }, evidence)).toEqual(why);
    expect(accused('Ran `npm test`: 14 passed, exit code 0.', { toolLog: true })).toEqual(why);
    expect(accused('', {}, evidence)).toEqual([]);
  });

  test('is in doubt where something else may have called it', () => {
    for (const command of [
      './check.sh',
      'make all',
      'npm run verify',
      'cd app && npm run test 2>&1 | tail',
      'bash -c "npm test"',
      'npm  test -- a',
    ])
      expect(accused('', { toolLog: true, commands: ran(command) }, evidence), command).toEqual([]);
  });
});

describe('what counts as evidence', () => {
  const commands = (text: string) =>
    receiptOf(text)?.commands.map(({ command, said }) => `${command} = ${said}`);

  test('is read from plain prose', () => {
    expect(commands('I ran `npm test`: exit code 0, 14 passed. Committed as abc1234.')).toEqual([
      'npm test = 0',
    ]);
    expect(commands('Ran `test -s src/new.ts`: exit code 0.')).toEqual(['test -s src/new.ts = 0']);
    expect(commands('Ran npm test: exit code 0.')).toEqual(['npm test = 0']);
    for (const text of [
      'Updated `package.json`? Not needed. Create `src/new.ts`: done.',
      '`src/new.ts` now exports greet.',
      'Created src/new.ts. Shall I go on?',
      'See src/new.ts.',
    ])
      expect(receiptOf(text)?.files, text).toMatchObject([{ path: 'src/new.ts', held: true, wrong: false }]);
  });
});
