import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEvidenceText } from './evidence-text.ts';
import { EXTENSIONS } from './path-shape.ts';

/** Files as `path`, `path:lines`; `-path` for a removal, `~path` for a move, `path?` where it may be none. */
function files(text: string, prompt = ''): string[] {
  const marks = { changed: '', removed: '-', moved: '~', named: '' };
  return readEvidenceText(text, prompt)
    .files.filter(({ deed, unsure }) => deed !== 'named' || !unsure)
    .map(
      ({ path, lines, deed, unsure }) =>
        `${marks[deed]}${path}${lines === null ? '' : `:${lines}`}${unsure ? '?' : ''}`,
    );
}

const NOTHING: string[] = [];

describe('a sentence', () => {
  test.each<[string, string[]]>([
    ['I created `src/x.ts`, lines 10-40.', ['src/x.ts:10-40']],
    ['Created src/x.ts (lines 10–40) and updated "src/y.ts".', ['src/x.ts:10-40', 'src/y.ts']],
    ['`src/x.ts:12-40` was updated', ['src/x.ts:12-40']],
    ['src/x.ts#L3-L9 has been rewritten.', ['src/x.ts:3-9']],
    ['**Modified** [the parser](src/parser.ts#L10-L20) as asked.', ['src/parser.ts:10-20']],
    ['In `src/x.ts` I added a parser.', ['src/x.ts']],
    ['Fixed it, e.g. in src/x.ts.', ['src/x.ts']],
    [
      'Implemented the parser in `src/p.ts:10` and its tests in `test/p.test.ts`.',
      ['src/p.ts:10', 'test/p.test.ts'],
    ],
    ['Added tests for `src/x.ts` in `test/x.test.ts`.', ['test/x.test.ts']],
    ['Created `src/x.ts` based on `src/y.ts`.', ['src/x.ts']],
    ['Added `a/x.ts`, which imports `a/y.ts`.', ['a/x.ts']],
    ['Removed `src/old.ts`.', ['-src/old.ts']],
    ['Deleted the old `src/old.ts` file.', ['-src/old.ts']],
    ['Removed an unused import from `src/x.ts`.', ['src/x.ts']],
    ['Renamed `a/x.ts` to `a/y.ts`.', ['~a/x.ts', '~a/y.ts']],
    ['C:\\repo\\src\\x.ts was created; updated src\\y.ts', ['C:\\repo\\src\\x.ts', 'src\\y.ts']],
    ['Updated `src/**/*.ts` and everything in `docs/`.', ['src/**/*.ts', 'docs/']],
    ['Wrote `Dockerfile` and `.gitignore`.', ['Dockerfile', '.gitignore']],
    ['\u001b[32mCreated\u001b[0m \u001b[1msrc/x.ts\u001b[0m', ['src/x.ts']],
  ])('%s', (text, told) => expect(files(text)).toEqual(told));

  test.each([
    'I will create `src/x.ts`.',
    'Next, `src/x.ts` needs to be updated.',
    'Create `src/x.ts` and export it.',
    '`src/x.ts` should be changed.',
    'I did not change `src/x.ts`.',
    '`src/x.ts` was not modified.',
    'No changes to `src/x.ts` were made.',
    'Everything in src/x.ts is unchanged.',
    'I could not create `src/x.ts`.',
    'Done without touching `src/x.ts`.',
    'I read `src/x.ts` and ran it.',
    'Fixed the bug where `src/x.ts` was read twice.',
    'Should I have created `src/x.ts`?',
    'See https://example.com/src/x.ts for what I added.',
    'Added support for Node.js, Next.js v18.2.1 and example.com/index.html.',
    'Updated `node:fs` usage, `@scope/pkg` and `console.log(x)`.',
    'Edited and/or checked I/O in 2024/01/02.',
    '> Created `src/x.ts`',
  ])('says nothing: %s', (text) => expect(files(text)).toEqual(NOTHING));

  test('a denial ends where the next deed begins', () => {
    expect(files('I did not change `a/x.ts`, and created `a/y.ts`.')).toEqual(['a/y.ts']);
    expect(files('Created `a/x.ts` without touching `a/y.ts`.')).toEqual(['a/x.ts']);
    expect(files('`a/x.ts` is untouched, but `a/y.ts` was changed.')).toEqual(['a/y.ts']);
  });

  test('what may be no file is told as such', () => {
    expect(files('Updated `lodash/debounce` and `bin/ralph`.')).toEqual(['lodash/debounce?', 'bin/ralph?']);
  });

  test.each<[string, string[]]>([
    ['Ich habe `a/x.ts` erstellt und die Datei a/y.ts (Zeilen 3 bis 9) angepasst.', ['a/x.ts', 'a/y.ts:3-9']],
    ['Die Datei `a/x.ts` wurde nicht geändert, `a/y.ts` muss noch angepasst werden.', []],
    ["J'ai créé `a/x.ts` et modifié `a/y.ts` (lignes 3 à 9).", ['a/x.ts', 'a/y.ts:3-9']],
    ["Je n'ai pas modifié `a/x.ts`.", []],
    ['He creado el archivo `a/x.ts` y he modificado `a/y.ts`.', ['a/x.ts', 'a/y.ts']],
    ['No he modificado `a/x.ts`.', []],
    ['Criei `a/x.ts` e atualizei `a/y.ts`.', ['a/x.ts', 'a/y.ts']],
    ['Ho creato `a/x.ts`; `a/y.ts` è stato aggiornato.', ['a/x.ts', 'a/y.ts']],
    ['Het bestand `a/x.ts` is toegevoegd.', ['a/x.ts']],
    ['Utworzono `a/x.ts`.', ['a/x.ts']],
    ['Создал файл `a/x.ts` и обновил `a/y.ts`.', ['a/x.ts', 'a/y.ts']],
    ['Файл `a/x.ts` не изменен.', []],
    ['`a/x.ts` oluşturuldu.', ['a/x.ts']],
    ['我创建了 `a/x.ts`，没有修改 `a/y.ts`。', ['a/x.ts']],
    ['将会修改 `a/x.ts`', []],
    ['`a/x.ts`を作成しました。`a/y.ts`は変更していません。', ['a/x.ts']],
    ['`a/x.ts` 파일을 생성했습니다.', ['a/x.ts']],
  ])('in another language: %s', (text, told) => expect(files(text)).toEqual(told));
});

describe('a list, a table, a fence', () => {
  test('entries under a heading of changes are claims, whatever stands behind them', () => {
    const list =
      'Files changed:\n\n- `a/x.ts`: parser\n- a/y.ts (new)\n- tidied\n- [a/z.ts](a/z.ts#L10-L20) uses `a/w.ts`\n- D a/v.ts';
    expect(files(list)).toEqual(['a/x.ts', 'a/y.ts', 'a/z.ts:10-20', '-a/v.ts']);
    expect(files('## Changes\n\n1. Add `a/x.ts`\n2. `a/y.ts`\n\n## Notes\n- `a/z.ts` is odd')).toEqual([
      'a/x.ts',
      'a/y.ts',
    ]);
    expect(files('修改的文件:\n- `a/x.ts`')).toEqual(['a/x.ts']);
    expect(files('Geänderte Dateien:\n- `a/x.ts`')).toEqual(['a/x.ts']);
    expect(files('**Files modified**\na/x.ts\na/y.ts')).toEqual(['a/x.ts', 'a/y.ts']);
  });

  test('plans, open boxes and lists of another kind are not', () => {
    expect(files('## Plan\n- Create `a/x.ts`\n- `a/y.ts`: new')).toEqual(NOTHING);
    expect(files('Files to create:\n- `a/x.ts`')).toEqual(NOTHING);
    expect(files('Files not changed:\n- `a/x.ts`')).toEqual(NOTHING);
    expect(files('- [ ] created `a/x.ts`\n- [x] created `a/y.ts`')).toEqual(['a/y.ts']);
    expect(files('I looked at:\n- `a/x.ts`\n- `a/y.ts`')).toEqual(NOTHING);
  });

  test('a table with a column of files and one of changes', () => {
    const rows =
      '| `a/x.ts` | added | 10-40 |\n| `a/y.ts` | none | |\n| `a/z.ts` | deleted | |\n| `a/w.ts` | planned | |';
    expect(files(`| File | Change | Lines |\n|---|:--|---|\n${rows}`)).toEqual(['a/x.ts:10-40', '-a/z.ts']);
    expect(files('| File | Purpose |\n|---|---|\n| `a/x.ts` | parser |')).toEqual(NOTHING);
    expect(files('Changed files:\n\n| File | Purpose |\n|---|---|\n| `a/x.ts` | parser |')).toEqual([
      'a/x.ts',
    ]);
  });

  test('the header of a fence, and its first line', () => {
    expect(files('```ts src/x.ts\ncode\n```')).toEqual(['src/x.ts']);
    expect(files('```tsx title="src/x.tsx"\ncode\n```')).toEqual(['src/x.tsx']);
    expect(files('```ts:src/x.ts\ncode\n```')).toEqual(['src/x.ts']);
    expect(files('```ts\n// src/x.ts\nconst a = "created `b/y.ts`";\n```')).toEqual(['src/x.ts']);
    expect(files('```py\n# pkg/x.py\n```\n```css\n/* a/x.css */\n```')).toEqual(['pkg/x.py', 'a/x.css']);
  });

  test('code that is only shown', () => {
    expect(files('The current code:\n\n```ts src/x.ts\ncode\n```')).toEqual(NOTHING);
    expect(files('I would write:\n```ts src/x.ts\ncode\n```')).toEqual(NOTHING);
    expect(files('```ts\nimport "./src/x.ts"; // created src/y.ts\n```')).toEqual(NOTHING);
  });

  test('what git prints', () => {
    const printed = ' src/x.ts | 12 ++--\n create mode 100644 src/y.ts\n delete mode 100644 src/z.ts\n';
    expect(files(`\`\`\`\n${printed}\`\`\``)).toEqual(['src/x.ts', 'src/y.ts', '-src/z.ts']);
    expect(files('```diff\n--- a/src/x.ts\n+++ b/src/x.ts\n@@ -1 +1 @@\n```')).toEqual(['src/x.ts']);
  });
});

describe('the prompt handed back', () => {
  const prompt =
    'Do this:\n\nWhen done, say which files you created, e.g. "I created `src/example.ts` and updated it".\n\nCreated files:\n- `src/x.ts`\n';

  test('is no claim', () => {
    expect(files(prompt, prompt)).toEqual(NOTHING);
    expect(files(`> I was told:\n${prompt}`, prompt)).toEqual(NOTHING);
  });

  test('a short entry that the task names too is one', () => {
    expect(files('Files changed:\n- `src/x.ts`', prompt)).toEqual(['src/x.ts']);
  });
});

describe('commands', () => {
  const commands = (text: string) =>
    readEvidenceText(text).commands.map(({ command, exitCode }) => `${command} = ${exitCode}`);

  test('that are said to have passed, or to have ended with a code', () => {
    expect(commands('Ran `npm test`: 12 passed.')).toEqual(['npm test = 0']);
    expect(commands('- `npm run lint` exits with exit code 2')).toEqual(['npm run lint = 2']);
    expect(commands('`npm test` and `npm run lint` pass.')).toEqual(['npm test = 0', 'npm run lint = 0']);
    expect(commands('`npm test` passes, and `npm run lint` fails.')).toEqual(['npm test = 0']);
  });

  test('that are only named, failed or planned', () => {
    expect(commands('Run `npm test`. `npm test` must pass. `make` failed. `foo` passed.')).toEqual([]);
  });
});

describe('any text', () => {
  const path = fc
    .tuple(
      fc.array(fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/), { minLength: 1, maxLength: 4 }),
      fc.constantFrom('ts', 'py', 'go', 'css', 'tsx'),
    )
    .map(([parts, extension]) => `${parts.join('/')}/file.${extension}`);

  test('never throws, and what it answers is bounded', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '```',
        '`',
        '| a | b |',
        '|---|---|',
        '- ',
        '[a](',
        'created ',
        '"',
        '\n',
        'src/x.ts',
        '\u001b[',
      ),
      path,
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.string(), (pieces, prompt) => {
        const { files: told, commands } = readEvidenceText(pieces.join(''), prompt);
        expect(told.length).toBeLessThanOrEqual(201);
        expect(commands.length).toBeLessThanOrEqual(50);
        for (const { path: found } of told) {
          expect(found.length).toBeLessThanOrEqual(512);
          expect(found).not.toMatch(/[\u0000-\u001f]|:\/\//);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('a claimed path comes back as it was written, in every kind of mark', () => {
    const wraps: ((path: string) => string)[] = [
      (p) => `I created ${p}.`,
      (p) => `Updated \`${p}\`, as asked.`,
      (p) => `Files changed:\n\n* **${p}** — new parser`,
      (p) => `| File | Status |\n|---|---|\n| ${p} | modified |`,
      (p) => `\`\`\`text title="${p}"\nx\n\`\`\``,
      (p) => `“${p}” was added.`,
    ];
    fc.assert(
      fc.property(path, fc.constantFrom(...wraps), (p, wrap) => {
        expect(files(wrap(p))).toEqual([p]);
      }),
    );
  });

  test('is read in time that grows with its length alone', () => {
    const million = 1_000_000;
    const hard = [
      '`',
      '"x.ts',
      '[a](',
      '| a.ts ',
      'a.ts\n',
      '```\n',
      '- a/b.ts\n',
      '\\',
      'x.ts:1-',
      'created ',
    ];
    for (const text of hard) readEvidenceText(text.repeat(million / text.length), 'p');
  });

  test('endings are listed once', () => {
    expect(EXTENSIONS.filter((one, at) => EXTENSIONS.indexOf(one) !== at)).toEqual([]);
  });
});
