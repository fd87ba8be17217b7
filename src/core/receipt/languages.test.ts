/** Whatever language a report is in: who names files that really changed is never accused. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_CLAIM } from '../claim.ts';
import { type Known, makeReceipt, wrongIn } from './receipt.ts';
import { toldBy } from './told.ts';

const ROOT = '/repo';

function receiptOf(finalMessage: string, changed: readonly string[], present: readonly string[] = []) {
  const told = toldBy({ results: [], finalMessage, prompt: '' });
  const known: Known = {
    footing: { root: ROOT, cwd: '' },
    owesCode: true,
    claim: { ...NO_CLAIM, kind: 'complete', via: 'tag', ...(told ? { told } : {}) },
    toolFiles: [],
    commands: [],
    toolLog: false,
    changes: changed.map((path) => ({ path, before: 'a', after: 'b' })),
    earlier: new Set(),
    dirty: new Set(),
    undone: new Set(),
    present: new Map(present.map((path) => [path, { kind: 'file' as const, path }])),
    isBookkeeping: () => false,
    matches: () => false,
    gates: [],
    commits: [],
    otherCommits: new Map(),
    acceptance: [],
    needsNoChange: false,
  };
  return makeReceipt(known);
}

const accused = (text: string, changed: readonly string[], present?: readonly string[]) => {
  const receipt = receiptOf(text, changed, present);
  return receipt === null ? [] : wrongIn(receipt).map((one) => one.text);
};

/** `A`, `B`: the files. The first of each language say that both were written, whatever stands around them. */
const CLAIMS: Record<string, string[]> = {
  English: ['I created A and B.', 'Updated A, B and their tests.', 'A and B were rewritten.'],
  German: ['Ich habe A und B angelegt.', 'Die Dateien A und B wurden geändert.'],
  French: ["J'ai créé A et modifié B.", 'Les fichiers A et B ont été modifiés.'],
  Spanish: ['He creado A y modificado B.', 'Se han actualizado los archivos A y B.'],
  Portuguese: ['Criei A e atualizei B.', 'Os arquivos A e B foram alterados.'],
  Italian: ['Ho creato A e modificato B.', 'A e B sono stati aggiornati.'],
  Russian: ['Создал A и обновил B.', 'Файлы A и B были изменены.'],
  Chinese: [
    '创建了A和B。',
    '我修改了A、B。',
    '已更新A，并修改了B。',
    '在A中添加了解析器，修改了B（见说明）。',
  ],
  Japanese: [
    'AとBを作成しました。',
    'A、Bを変更しました。',
    'Aを追加し、Bを修正しました。Aも更新済みです。',
    '（A）と「B」を更新しました。',
  ],
  Korean: ['A와 B를 수정했습니다.', 'A, B를 생성했습니다.', '(A)와 (B)를 추가했습니다.'],
};

/** Sentences whose words lie near an accusation: parts that went, moves, asides, denials, no blanks at all. */
const HARD: Record<string, string[]> = {
  English: [
    'Removed the old parser from A and moved it to B.',
    'In A I removed the import; B was adjusted.',
    'Renamed a function in A, deleted its copy in B.',
    'Not only A, but also B was changed.',
    'Deleted A:10-20 and B#L3-L9.',
  ],
  German: [
    'In A habe ich den Parser entfernt und nach B verschoben.',
    'Aus A wurde nichts gelöscht, B geändert.',
  ],
  French: [
    "J'ai supprimé l'import dans A et déplacé le reste vers B.",
    "Supprimé de A : l'import ; B modifié.",
  ],
  Spanish: ['He eliminado el import de A y lo he movido a B.', 'En A se ha eliminado código; B, corregido.'],
  Portuguese: [
    'Removi o import de A e movi o resto para B.',
    'Em A foi removido o código antigo; B alterado.',
  ],
  Italian: [
    "Ho rimosso l'import da A e spostato il resto in B.",
    'In A è stato rimosso il codice; B corretto.',
  ],
  Russian: ['Удалил импорт из A и переместил в B.', 'В A удалена функция, B изменён.'],
  Chinese: [
    '删除了A中的旧代码，并移动了B里的函数。',
    '从A删除了导入；参考B修改了A。',
    '根据B重构了A',
    '已将A重命名，更新了B的第10～40行。',
    '修改内容：A、B；测试：通过',
    '《A》【B】已修改',
  ],
  Japanese: [
    'Aから不要なコードを削除しました。Bも同様です。',
    'Aを参考にBを実装しました。',
    'A（第10〜40行）、Bを更新しました。',
    '変更点：A・B。',
    'Aの関数をBに移動しました。',
  ],
  Korean: [
    'A에서 코드를 삭제했고 B를 수정했습니다.',
    'A를 참고하여 B를 작성했습니다.',
    'A: 삭제했음, B: 추가했음',
  ],
  Thai: ['แก้ไขไฟล์AและBแล้ว', 'ลบโค้ดจากA เพิ่มB'],
  Arabic: ['تم تعديل A وB.', 'حذفت الكود من A، وعدلت B.'],
};

const part = fc.stringMatching(/^[a-z][a-zA-Z0-9_-]{0,7}$/);
const dense = fc.constantFrom('設計', '组件', '按钮', 'テスト', '문서', 'メモ（案）');
const name = (folders: fc.Arbitrary<string>) =>
  fc
    .tuple(
      fc.array(folders, { minLength: 1, maxLength: 3 }),
      folders,
      fc.constantFrom('ts', 'py', 'tsx', 'md', 'test.ts', 'vue'),
    )
    .map(([above, file, extension]) => `${above.join('/')}/${file}.${extension}`);
const plainName = name(part);
const anyName = fc.oneof(plainName, name(fc.oneof(part, dense)));
const WRAPS: ((path: string) => string)[] = [
  (path) => path,
  (path) => `\`${path}\``,
  (path) => `**${path}**`,
  (path) => ` ${path} `,
  (path) => `「${path}」`,
  (path) => `（${path}）`,
  (path) => `[${path}](${path}#L1-L2)`,
  (path) => `\`${path}:1-2\``,
  (path) => `${ROOT}/${path}`,
];
const FRAMES: ((text: string) => string)[] = [
  (text) => text,
  (text) => `- ${text}`,
  (text) => `Changes:\n\n- ${text}`,
  (text) => `## 修改的文件\n\n1. ${text}`,
  (text) => `変更内容：\n- ${text}`,
];
const all = (table: Record<string, string[]>) => Object.values(table).flat();
const filled = (sentence: string, a: string, b: string) =>
  sentence.replace(/(?<![A-Za-z])[AB](?![a-z])/g, (which) => (which === 'A' ? a : b));

describe('whose paths really changed', () => {
  test('is never accused, in ten languages and more', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...all(CLAIMS), ...all(HARD)),
        anyName,
        anyName,
        fc.constantFrom(...WRAPS),
        fc.constantFrom(...WRAPS),
        fc.constantFrom(...FRAMES),
        (sentence, a, b, wrapA, wrapB, frame) => {
          const text = frame(filled(sentence, wrapA(a), wrapB(b)));
          expect(accused(text, [a, b], [a, b]), text).toEqual([]);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test.each(Object.entries(CLAIMS))('%s: a path in backticks counts as held', (_, sentences) => {
    fc.assert(
      fc.property(fc.constantFrom(...sentences), anyName, anyName, (sentence, a, b) => {
        const text = filled(sentence, `\`${a}\``, `\`${b}\``);
        const held = (receiptOf(text, [a, b])?.files ?? []).filter((file) => file.held);
        expect(new Set(held.map(({ path }) => path)), text).toEqual(new Set([a, b]));
      }),
      { numRuns: 200 },
    );
  });
});

describe('without blanks', () => {
  test.each<[string, string[]]>([
    ['创建了src/a.ts和src/b.ts。', ['src/a.ts', 'src/b.ts']],
    ['修改了src/a.ts、src/b.ts，没有修改src/c.ts。', ['src/a.ts', 'src/b.ts']],
    ['src/a.tsを作成しました。src/c.tsは変更していません。', ['src/a.ts']],
    ['src/a.ts를 수정했습니다.', ['src/a.ts']],
    ['参考src/c.ts修改了src/a.ts。', ['src/a.ts']],
    ['src/c.tsを参考にsrc/a.tsを作成しました。', ['src/a.ts']],
    ['src/c.ts를 참고하여 src/a.ts를 작성했습니다.', ['src/a.ts']],
    ['运行了src/c.ts的测试，更新了src/a.ts', ['src/a.ts']],
  ])('%s', (text, told) => {
    expect(toldBy({ results: [], finalMessage: text, prompt: '' })!.files.map(({ path }) => path)).toEqual(
      told,
    );
    expect(accused(text, told, ['src/c.ts'])).toEqual([]);
  });

  test('an invented file is still named', () => {
    expect(accused('创建了src/ghost.ts。', [])).toEqual(['src/ghost.ts (there is no such file)']);
    expect(accused('`src/ghost.ts`を作成しました。', [])).toEqual(['src/ghost.ts (there is no such file)']);
  });

  test('a failed command is none that was claimed green', () => {
    for (const text of ['`npm test`没有通过', '`npm test`は成功しませんでした', '`npm test` nie przechodzi'])
      expect(toldBy({ results: [], finalMessage: text, prompt: '' }), text).toBeNull();
    expect(toldBy({ results: [], finalMessage: '`npm test`已通过', prompt: '' })!.commands).toHaveLength(1);
  });
});

test('a home is a home, and signs of code in a name make it no certain claim', () => {
  expect(
    toldBy({ results: [], finalMessage: 'Updated ~/x.ts and ~~src/y.ts~~.', prompt: '' })?.files,
  ).toMatchObject([{ path: 'src/y.ts' }]);
  for (const path of [
    'app/(shop)/[id]/page.tsx',
    'app/routes/$user.tsx',
    'docs/設計（案）.md',
    'a, b & c/x.md',
  ]) {
    expect(receiptOf(`Updated \`${path}\`.`, [path])!.files).toMatchObject([{ path, held: true }]);
    expect(receiptOf(`Updated \`${path}\`.`, [])).toBeNull();
  }
});
