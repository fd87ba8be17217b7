/** Of a sentence only what was itself written is held against the agent: what it is for, of, from or like is not. */
import { describe, expect, test } from 'vitest';
import { readEvidenceText } from './evidence-text.ts';

/** The files that would be a lie if they had not changed. */
const claimed = (text: string) =>
  readEvidenceText(text)
    .files.filter(({ unsure }) => !unsure)
    .map(({ path }) => path);

/** `t.ts` and `x.ts` were written; what is named beside them was not. */
const BESIDE: Record<string, [string, string[]][]> = {
  'a purpose': [
    ['Wrote `t.ts` to cover `x.ts` and `a.ts`.', ['t.ts']],
    ['added `t.ts` to verify `b.ts`', ['t.ts']],
    ['Created `t.ts` in order to test `a.ts`.', ['t.ts']],
    ['Created `t.ts` so that `a.ts` compiles.', ['t.ts']],
    ['Created `t.ts` so `a.ts` compiles.', ['t.ts']],
    ['Updated `t.ts` to match the parser in `a.ts`.', ['t.ts']],
    ['Updated `t.ts` to be in line with `a.ts`, `b.ts`.', ['t.ts']],
    ['`t.ts` was updated to match `a.ts`.', ['t.ts']],
    ['Wrote `t.ts` for use in `a.ts`.', ['t.ts']],
    ['Added tests for the parser in `a.ts`.', []],
    ['Added tests for `greet` in `a.ts`.', []],
    ['Added tests to cover `a.ts`, `b.ts` and lib/c.ts.', []],
    ['To cover `a.ts`, I wrote tests.', []],
    ['Following the pattern in `a.ts`, I created the file.', []],
    ['Covering `a.ts`, I added tests.', []],
  ],
  'what something belongs to': [
    ['Added an import of `a.ts` to `x.ts`.', ['x.ts']],
    ['Removed the unused import of `a.ts` from `x.ts`.', ['x.ts']],
    ['Fixed the callers of `a.ts` in `x.ts`.', ['x.ts']],
    ['Fixed the `a.ts` import in `x.ts`.', ['x.ts']],
    ['The `a.ts` import in `x.ts` was fixed.', ['x.ts']],
    ['Implemented the logic `a.ts` needs.', []],
    ['Added a method on top of `a.ts`.', []],
    ['`a.ts` tests were added.', []],
    ['Changed the import in `x.ts` from `a.ts` to `b.ts`.', ['x.ts']],
    ['Changed the path `a.ts` to `b.ts` in `x.json`.', ['x.json']],
    ['Added the glob `a.ts` to `x.json`.', ['x.json']],
    ['Completed the task described in `a.md`.', []],
    ['Implemented `a.md` and everything listed in `b.md`.', []],
    ['Changes:\n- Import of `a.ts` in `x.ts`', ['x.ts']],
    ['Changes:\n- `x.ts`: added `a.ts` to the list', ['x.ts']],
    ['Updated `x.ts`: added `a.ts` and removed `b.ts`.', ['x.ts']],
  ],
  'what it is like, or made with': [
    ['Created `t.ts` similar to `a.ts`.', ['t.ts']],
    ['Created a helper analogous to `a.ts`.', []],
    ['Created `t.ts` like `a.ts`.', ['t.ts']],
    ['Created `t.ts` using `a.ts` and the parser in `b.ts`.', ['t.ts']],
    ['Created `t.ts` based on the code in `a.ts`.', ['t.ts']],
    ['Created `t.ts` in the style of `a.ts`.', ['t.ts']],
    ['Created `t.ts` mirroring the layout in `a.ts`.', ['t.ts']],
    ['Created `t.ts` modelled on `a.ts`.', ['t.ts']],
    ['Wrote `t.ts`, which follows `a.ts`.', ['t.ts']],
    ['Checked `t.ts` against `a.ts` and updated `t.ts`.', ['t.ts']],
    ['Added tests covering `a.ts` in `t.ts`.', ['t.ts']],
    ['Added tests verifying `a.ts`.', []],
    ['Added tests aimed at `a.ts`.', []],
    ['Implemented greet in `x.ts`, following the conventions in `a.ts`.', ['x.ts']],
    ['Fixed how `x.ts` loads `a.ts`.', []],
    ['Ran the updated `a.ts`.', []],
    ['Wrote `t.ts` for the changed `a.ts`.', ['t.ts']],
  ],
  'what was put into a file': [
    ['Added `a.ts` to `x.json`.', ['x.json']],
    ['Added `a.ts` to the include list in `x.json`.', ['x.json']],
    ['Added `a.ts` to the coverage list.', []],
    ['Removed `a.ts` from `x.ts`.', ['x.ts']],
    ['Changed `a.ts` to `b.ts` in `x.json`.', ['x.json']],
    ['Replaced `a.ts` with `b.ts` in `x.json`.', ['x.json']],
    ['Documented `a.ts` in `x.md`.', ['x.md']],
  ],
  'another language': [
    ['`t.ts` geschrieben, um `a.ts` abzudecken.', ['t.ts']],
    ['Tests in `t.ts` für `a.ts` hinzugefügt.', ['t.ts']],
    ['Ich habe Tests geschrieben, die `a.ts` abdecken.', []],
    ["J'ai ajouté des tests qui couvrent `a.ts`.", []],
    ['He añadido pruebas que cubren `a.ts`.', []],
    ['Ho aggiunto test che coprono `a.ts`.', []],
    ['Добавил тесты, которые проверяют `a.ts`.', []],
    ['Import von `a.ts` in `x.ts` hinzugefügt.', ['x.ts']],
    ['`a.ts` zu `x.json` hinzugefügt.', ['x.json']],
    ['`t.ts` angelegt, damit `a.ts` getestet ist.', ['t.ts']],
    ['Créé `t.ts` pour couvrir `x.ts` et `a.ts`.', ['t.ts']],
    ['Créé `t.ts` pour couvrir le code dans `a.ts`.', ['t.ts']],
    ['Créé `t.ts` afin de tester `a.ts`.', ['t.ts']],
    ['Ajouté un import de `a.ts` dans `x.ts`.', ['x.ts']],
    ['He creado `t.ts` para cubrir `a.ts`.', ['t.ts']],
    ['Añadido un import de `a.ts` en `x.ts`.', ['x.ts']],
    ['Criei `t.ts` para testar `a.ts`.', ['t.ts']],
    ['Adicionei um import do `a.ts` em `x.ts`.', ['x.ts']],
    ['Ho creato `t.ts` per testare `a.ts`.', ['t.ts']],
    ['Aggiunto un import di `a.ts` in `x.ts`.', ['x.ts']],
    ['Ik heb `t.ts` toegevoegd om `a.ts` te testen.', ['t.ts']],
    ['Создал `t.ts`, чтобы покрыть `a.ts`.', ['t.ts']],
    ['Добавил `a.ts` в `x.json`.', ['x.json']],
    ['Utworzono `t.ts`, żeby sprawdzić `a.ts`.', ['t.ts']],
    ['创建了`t.ts`以覆盖`a.ts`。', ['t.ts']],
    ['创建了`t.ts`，用于测试`a.ts`。', ['t.ts']],
    ['添加了`a.ts`的测试。', []],
    ['为`a.ts`添加了测试。', []],
    ['`a.ts`のテストを追加しました。', []],
    ['`a.ts`を検証する`t.ts`を追加しました。', ['t.ts']],
    ['`a.ts` 테스트를 추가했습니다.', []],
    ['`a.ts`를 위한 `t.ts`를 추가했습니다.', ['t.ts']],
  ],
};

describe.each(Object.entries(BESIDE))('%s is no claim', (_, rows) => {
  test.each(rows)('%s', (text, files) => expect(claimed(text)).toEqual(files));
});

test('it counts where it is true', () => {
  const [told] = readEvidenceText('Updated the header of `x.ts`.').files;
  expect(told).toMatchObject({ path: 'x.ts', deed: 'changed', unsure: true });
});

describe('what was written is a claim, wherever it stands', () => {
  test.each<[string, string[]]>([
    ['created a.ts and b.ts', ['a.ts', 'b.ts']],
    ['Created `a.ts`, `b.ts` and their tests in `t.ts`.', ['a.ts', 'b.ts', 't.ts']],
    ['Added the following files: `a.ts`, `b.ts`.', ['a.ts', 'b.ts']],
    ['Created three files, including `a.ts`.', ['a.ts']],
    ['Added validation to `a.ts` and error messages to `b.ts`.', ['a.ts', 'b.ts']],
    ['Added validation to the parser in `a.ts`.', ['a.ts']],
    ['Created the new parser module `a.ts`.', ['a.ts']],
    ['Wrote `a.ts` to cover the parser, and updated `b.ts`.', ['a.ts', 'b.ts']],
    ['To cover it, I created `a.ts`.', ['a.ts']],
    ['Working on the parser, I created `a.ts`.', ['a.ts']],
    ['Using the template I created `a.ts`.', ['a.ts']],
    ['Renamed `a.ts` to `b.ts`.', ['a.ts', 'b.ts']],
    ['Moved the parser from `a.ts` to `b.ts`.', ['a.ts', 'b.ts']],
    ['Updated `a.ts` (lines 3 to 9) and `b.ts`.', ['a.ts', 'b.ts']],
    ['Fixed: created `a.ts`.', ['a.ts']],
    ['Changes:\n- `a.ts`: parser\n- `b.ts` to cover it\n- `c.ts` uses it', ['a.ts', 'b.ts', 'c.ts']],
    ['| File | Change |\n|---|---|\n| `a.ts` | tests for `b.ts` |', ['a.ts']],
  ])('%s', (text, files) => expect(claimed(text)).toEqual(files));
});

describe('code that shows how to use something', () => {
  const fence = '```ts\n// src/app.ts\nimport { greet } from "greet";\n```';
  test.each([
    `## Usage (in your own project)\n\n${fence}`,
    `### How to use it\n\nImport it:\n\n${fence}`,
    `**Example**\n\n${fence}`,
    `You can call it like this:\n\n${fence}`,
    `In your app:\n${fence}`,
    `## Quick start\n\nFirst install it.\n\n${fence}`,
    `## Verwendung\n\n${fence}`,
    `## Utilisation\n\n${fence}`,
    `## Uso\n\n${fence}`,
    `## 使用方法\n\n${fence}`,
  ])('is no claim: %s', (text) => expect(claimed(text)).toEqual([]));

  test('code under another heading is one', () => {
    expect(claimed(`## Usage\n\nIt greets.\n\n## Implementation\n\n${fence}`)).toEqual(['src/app.ts']);
  });
});
