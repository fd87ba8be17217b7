/** What evidence costs: reading it out of prose, and holding claims against a large repository. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hear, makeReceipt, NO_CLAIM, readEvidenceText, toLookFor } from '../src/core/index.ts';
import { openGround } from '../src/repo/index.ts';
import { medianCostMs, type Row, type Scale } from './measure.ts';
import { makeRepository } from './repository.ts';

/** A report as agents write them: much talk, some paths in it, now and then a claim. */
function paragraph(n: number): string {
  return `The change follows what the task asks for, step ${n} of many: the parser reads its input once and keeps it.
It was simpler to leave the old path alone, e.g. where a caller passes nothing, because version 1.${n} is still in use.
In module ${n} the limits and/or defaults are read from the settings; see docs/notes-${n % 50}.md for why.

- a point about naming that holds no path at all
- a number such as 3.5, and what \`src/part-${n % 40}.ts\` does with it

${n % 8 === 0 ? `I updated \`src/part-${n % 40}.ts\`, lines 10-${n % 90}, and its tests pass.\n\n` : ''}`;
}

export async function proseRows({ quick }: Scale): Promise<Row[]> {
  const bytes = (quick ? 1 : 10) * 1_000_000;
  let text = '';
  for (let n = 0; text.length < bytes; n++) text += paragraph(n);
  const prompt = paragraph(-1);
  const ms = await medianCostMs(5, () => readEvidenceText(text, prompt));
  return [
    {
      name: `evidence read out of ${bytes / 1_000_000} MB of prose`,
      value: text.length / 1_000_000 / (ms / 1_000),
      unit: 'MB/s',
      least: 50,
      note: `${readEvidenceText(text, prompt).files.length} files found`,
    },
  ];
}

/** Everything the evidence of one iteration costs beyond its snapshot: hearing, looking, the receipt. */
export async function receiptRows({ quick }: Scale): Promise<Row[]> {
  const count = quick ? 300 : 10_000;
  const root = makeRepository(count);
  try {
    const options = { cwd: root, privateDir: join(root, '.git', 'bench'), excluded: [], useGit: true };
    const ground = await openGround({ ...options, sessionId: 'bench' });
    const before = await ground.snapshot();
    const paths = Array.from({ length: 50 }, (_, n) => `src/d0/m0/f${n}.txt`);
    for (const path of paths.slice(0, 30)) writeFileSync(join(root, path), 'changed\n');
    const changes = await ground.changes(before.tree, (await ground.snapshot()).tree);
    const finalMessage = `${paragraph(1).repeat(8)}\nFiles changed:\n\n${paths.map((path) => `- \`${path}\``).join('\n')}`;
    const ms = await medianCostMs(quick ? 3 : 15, async () => {
      const said = { finalMessage, outbox: [], prompt: paragraph(2).repeat(50), completionWord: null };
      const claim = hear({ ...said, taskIds: [], activeTask: null, publishes: null });
      const known = {
        footing: { root, cwd: '' },
        owesCode: true,
        claim: { ...NO_CLAIM, ...claim },
        toolFiles: paths,
        commands: [],
        changes,
        earlier: new Set<string>(),
        dirty: new Set<string>(),
        undone: new Set<string>(),
        isBookkeeping: () => false,
        matches: () => false,
        gates: [],
        commits: [],
        otherCommits: new Map(),
        acceptance: [],
        needsNoChange: false,
        toolLog: false,
      };
      const present = await ground.whereabouts(toLookFor(known));
      const receipt = makeReceipt({ ...known, present });
      const wrong = receipt?.files.filter((file) => file.wrong).length;
      if (wrong !== 20) throw new Error(`20 false claims were expected, not ${wrong}`);
    });
    const many = count.toLocaleString('en-US');
    return [
      {
        name: `evidence of one iteration beside its snapshot, ${many} files`,
        value: ms,
        unit: 'ms',
        most: 20,
        note: '50 claims, 20 of them false; git is not asked',
      },
    ];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
