import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { patternsOf, readFeedback } from '../dialects/index.ts';
import { batchesFor, feedbackSource } from './feedback.ts';
import { attachmentNames, writeBatch } from './feedback-write.ts';
import { appendProgressEntry, knowledgeSource } from './knowledge.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ralph-notes-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));
function put(path: string, content: string | Uint8Array): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), content);
  const past = new Date(Date.now() - 10_000);
  utimesSync(join(root, path), past, past);
}
const text = (path: string) => readFileSync(join(root, path), 'utf8');
const commits = (...subjects: string[]) => ({
  recentCommits: async (count: number) => subjects.slice(0, count),
});

describe('what prompts know of a project', () => {
  it('is nothing in a project without notes and commits', async () => {
    expect(await knowledgeSource(root, commits()).read()).toEqual({});
  });

  it('is its patterns, memories, requirements and last commits', async () => {
    put(
      'ralph/progress.txt',
      '# Progress\n\n## Codebase Patterns\n- Use the clock port.\n\n---\n\n## 2026-01-01\nDid it.\n',
    );
    put('.ralph/memories.md', 'Tests need a port.\n');
    put('ralph/prd.md', '# Product\n');
    const subjects = Array.from({ length: 12 }, (_, n) => `feat: ${n}`);
    expect(await knowledgeSource(root, commits(...subjects)).read()).toEqual({
      patterns: '- Use the clock port.',
      memories: '- Tests need a port.',
      prd: '# Product',
      commits: subjects.slice(0, 10),
    });
  });

  it('is also what other loops keep: learnings, AGENT.md and the notes of a plan', async () => {
    put('progress.txt', '## Codebase Patterns\n- Use the clock port.\n');
    put('learnings.md', '- Cache first.\n');
    put('AGENT.md', '# Agent\n\nBuild with `make`.\n');
    put('fix_plan.md', '# Plan\n\n- [ ] one\n\n## Notes\n\nOne worker only.\n');
    expect((await knowledgeSource(root, commits()).read()).patterns).toBe(
      '- Use the clock port.\n\nFrom learnings.md:\n\n- Cache first.\n\nFrom AGENT.md:\n\n# Agent\n\nBuild with `make`.\n\nFrom fix_plan.md:\n\n## Notes\n\nOne worker only.',
    );
  });

  it('prefers the files in ralph/ and falls back to the root', async () => {
    put('progress.txt', 'Root pattern.\n');
    put('prd.md', 'Root product.\n');
    const knowledge = knowledgeSource(root, commits());
    expect(await knowledge.read()).toMatchObject({ patterns: 'Root pattern.', prd: 'Root product.' });
    put('ralph/prd.md', 'Desk product.\n');
    expect(await knowledge.read()).toMatchObject({ patterns: 'Root pattern.', prd: 'Desk product.' });
  });

  it('changes with the files', async () => {
    put('prd.md', 'One.\n');
    const knowledge = knowledgeSource(root, commits());
    expect(await knowledge.read()).toEqual({ prd: 'One.' });
    put('prd.md', 'Two.\n');
    expect(await knowledge.read()).toEqual({ prd: 'Two.' });
    rmSync(join(root, 'prd.md'));
    expect(await knowledge.read()).toEqual({});
  });

  it('is bounded: the head of patterns and requirements, the newest memories, in whole lines', async () => {
    const lines = Array.from({ length: 5_000 }, (_, n) => `pattern ${n} — é`).join('\n');
    put('progress.txt', lines);
    put('.ralph/memories.md', lines);
    put('prd.md', lines);
    const { patterns = '', memories = '', prd = '' } = await knowledgeSource(root, commits()).read();
    expect(Buffer.byteLength(patterns)).toBeLessThanOrEqual(8_192);
    expect(Buffer.byteLength(memories)).toBeLessThanOrEqual(8_192);
    expect(Buffer.byteLength(prd)).toBeLessThanOrEqual(16_384);
    for (const part of [patterns, memories, prd]) {
      for (const line of part.split('\n')) expect(line).toMatch(/^(?:- )?pattern \d+ — é$/);
    }
    expect(memories.startsWith('- pattern 4999 — é\n')).toBe(true);
  });

  it('of memories those about the work come first, within their budget, or none where they are switched off', async () => {
    const main = join(root, 'main');
    put('main/.ralph/memories.md', '# Memories\n\n- The parser keeps comments.\n- Deploy with make ship.\n');
    const read = (memories: { enabled: boolean; budgetTokens: number }) =>
      knowledgeSource(root, commits(), { mainDir: main, memories }).read('Fix the parser');
    expect((await read({ enabled: true, budgetTokens: 2000 })).memories).toBe(
      '- The parser keeps comments.\n- Deploy with make ship.',
    );
    expect((await read({ enabled: true, budgetTokens: 9 })).memories).toBe('- The parser keeps comments.');
    expect(await read({ enabled: false, budgetTokens: 2000 })).toEqual({});
  });

  it('comes from files only: no link is followed, no folder and no binary read', async () => {
    put('secret', 'key');
    mkdirSync(join(root, '.ralph'));
    symlinkSync('../secret', join(root, '.ralph', 'memories.md'));
    mkdirSync(join(root, 'prd.md'));
    put('progress.txt', new Uint8Array([65, 0, 66]));
    expect(await knowledgeSource(root, commits()).read()).toEqual({});
  });
});

describe('the patterns of a progress file', () => {
  it('stand before the first entry where no heading names them', () => {
    expect(patternsOf('# Log\nUse tabs.\n\n## 2026-01-01 task-1\nDone.\n')).toBe('# Log\nUse tabs.');
    expect(patternsOf('# Log\n---\nDone.\n')).toBe('');
  });

  it('reach to the next heading of their depth', () => {
    expect(patternsOf('## Patterns\n### Tests\n- a\n## Log\n- b\n')).toBe('### Tests\n- a');
  });

  it('are always a part of the text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('# a', '## Patterns', '---', '- x', '', '## 2026-01-01 y', 'words')),
        (lines) => {
          expect(lines.join('\n')).toContain(patternsOf(lines.join('\n')));
        },
      ),
    );
  });
});

describe('a progress entry', () => {
  it('is appended as a paragraph in the file’s own line endings', async () => {
    put('ralph/progress.txt', '# Log\r\n');
    expect(await appendProgressEntry(root, '## task-1\nDone.\n')).toBe(true);
    expect(text('ralph/progress.txt')).toBe('# Log\r\n\r\n## task-1\r\nDone.\r\n');
  });

  it('is never glued to a last line without an end', async () => {
    put('ralph/progress.txt', '# Log');
    await appendProgressEntry(root, 'Done.');
    expect(text('ralph/progress.txt')).toBe('# Log\n\nDone.\n');
  });

  it('makes no file where the project keeps none, and follows no link', async () => {
    expect(await appendProgressEntry(root, 'Done.')).toBe(false);
    put('elsewhere', 'x');
    mkdirSync(join(root, 'ralph'));
    symlinkSync('../elsewhere', join(root, 'ralph', 'progress.txt'));
    expect(await appendProgressEntry(root, 'Done.')).toBe(false);
    expect(text('elsewhere')).toBe('x');
  });
});

const TEMPLATE = `---
iteration: 2
timestamp: 2026-01-01T00:00:00Z
previous_iteration: 1
---

# Feedback Batch: 20260101-000000

## Critical Issues
<!-- What must not stay as it is. -->
- [ ] **ISS-001**: Description
  - Evidence: 
  - Suggested Fix: ...

## Quality Issues
- [ ] **Q-001**: [what is not good enough]

## New Requirements
-

## Artifacts Index
| File | Description |
|------|-------------|
| app.log | Server logs |
`;

describe('feedback', () => {
  it('in which nobody has written anything is none', async () => {
    put('iterations/2/feedbacks/20260101-000000/feedbacks.md', TEMPLATE);
    put('iterations/2/feedbacks/20260102-000000/feedbacks.md', '');
    mkdirSync(join(root, 'iterations/2/feedbacks/20260103-000000'));
    expect(await feedbackSource(root).poll(2)).toEqual([]);
  });

  it('is known by its words, so an edited batch is news', async () => {
    const file = 'iterations/2/feedbacks/20260101-000000/feedbacks.md';
    const source = feedbackSource(root);
    put(file, TEMPLATE.replace('Description', 'The login is broken'));
    const [first] = await source.poll(2);
    expect(first?.id).toMatch(/^feedback-[0-9a-f]{64}$/);
    expect(first?.text).toContain('The login is broken');
    expect(await feedbackSource(root).poll(2)).toEqual([first]);
    put(file, TEMPLATE.replace('Description', 'The login and the logout are broken'));
    const [second] = await source.poll(2);
    expect(second?.id).not.toBe(first?.id);
    expect(await source.poll(3)).toEqual([]);
  });

  it('that was written this very moment is read when it is whole', async () => {
    const source = feedbackSource(root);
    mkdirSync(join(root, 'iterations/2/feedbacks/a'), { recursive: true });
    const file = join(root, 'iterations/2/feedbacks/a/feedbacks.md');
    writeFileSync(file, 'The lo');
    const polled = source.poll(2);
    writeFileSync(file, 'The login is broken');
    expect((await polled)[0]?.text).toBe('The login is broken');
  });

  it('names what lies beside it and reads none of it', async () => {
    put('iterations/2/feedbacks/a/feedbacks.md', 'Broken.');
    put('iterations/2/feedbacks/a/app.log', 'SECRET');
    put('secret', 'SECRET');
    symlinkSync(join(root, 'secret'), join(root, 'iterations/2/feedbacks/a/link.txt'));
    const [batch] = await feedbackSource(root).poll(2);
    expect(batch?.text).toContain('- app.log\n- link.txt (a link, not followed)');
    expect(batch?.text).not.toContain('SECRET');
  });

  it('is not read through a link, and at most 64 KB of it', async () => {
    put('secret', 'Broken.');
    mkdirSync(join(root, 'iterations/2/feedbacks/a'), { recursive: true });
    symlinkSync(join(root, 'secret'), join(root, 'iterations/2/feedbacks/a/feedbacks.md'));
    symlinkSync(join(root, 'iterations/2/feedbacks/a'), join(root, 'iterations/2/feedbacks/b'));
    expect(await feedbackSource(root).poll(2)).toEqual([]);
    put('iterations/2/feedbacks/c/feedbacks.md', 'x'.repeat(200_000));
    const [batch] = await feedbackSource(root).poll(2);
    expect(batch!.text.length).toBeLessThan(66_000);
    expect(batch!.text).toContain('the rest was left out');
  });

  it('with one sentence anywhere outside the table is one', () => {
    const lines = TEMPLATE.split('\n');
    const places = lines.map((_, n) => n).filter((n) => n > 5 && n < 20);
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.stringMatching(/^[a-z]{4,9} [a-z]{4,9}$/), (at, words) => {
        const text = lines.toSpliced(at, 0, `- ${words}`);
        expect(readFeedback('b', text.join('\n'), []).untouched).toBe(false);
        expect(readFeedback('b', text.join('\r\n'), []).untouched).toBe(false);
      }),
    );
    for (const text of ['A comment that <!-- was never closed', 'see [the log](app.log)'])
      expect(readFeedback('b', text, []).untouched).toBe(false);
  });

  it('of several batches comes in the order of the times they tell, then of their files', async () => {
    put('iterations/2/feedbacks/a/feedbacks.md', '---\ntimestamp: 2026-03-03T00:00:00Z\n---\nThird.');
    put('iterations/2/feedbacks/b/feedbacks.md', 'First.');
    put('iterations/2/feedbacks/20260202-000000/feedbacks.md', 'Second.');
    const early = new Date('2026-01-01T00:00:00Z');
    utimesSync(join(root, 'iterations/2/feedbacks/b/feedbacks.md'), early, early);
    const texts = (await feedbackSource(root).poll(2)).map(({ text }) => text.split('\n').at(-1));
    expect(texts).toEqual(['First.', 'Second.', 'Third.']);
  });

  it('of two batches with one id says how to name each of them', async () => {
    put('iterations/2/feedbacks/20260101-000000/feedbacks.md', '# Critical Issues\n- ISS-001: slow\n');
    put('iterations/2/feedbacks/20260102-000000/feedbacks.md', '# Critical Issues\n- ISS-001: ugly\n');
    const [first, second] = await feedbackSource(root).poll(2);
    expect(first!.text).toContain('so name them: 20260101-000000/ISS-001');
    expect(second!.text).toContain('so name them: 20260102-000000/ISS-001');
  });

  it('is written whole, with what lies beside it, and never over another batch', async () => {
    put('log.txt', 'A log');
    mkdirSync(join(root, 'iterations/2/feedbacks/20260208-143001'), { recursive: true });
    put('iterations/2/feedbacks/20260208-143000/feedbacks.md', 'Mine.');
    const at = Date.parse('2026-02-08T14:30:00Z');
    const from = join(root, 'log.txt');
    const batch = { sessionDir: root, cycle: 2, at, attachments: [{ from, name: 'log.txt' }] };
    // A folder that somebody made and left empty is used.
    expect(await writeBatch({ ...batch, text: 'One.' })).toBe(
      'iterations/2/feedbacks/20260208-143001/feedbacks.md',
    );
    expect(await writeBatch({ ...batch, text: 'Two.' })).toContain('20260208-143002/');
    expect(text('iterations/2/feedbacks/20260208-143000/feedbacks.md')).toBe('Mine.');
    expect(text('iterations/2/feedbacks/20260208-143001/log.txt')).toBe('A log');
    expect((await batchesFor(root, 2)).map((one) => one.text)).toEqual(['Mine.', 'One.', 'Two.']);
    expect(readdirSync(join(root, 'iterations/2/feedbacks'))).toHaveLength(3);
    await expect(
      writeBatch({ ...batch, text: 'x', attachments: [{ from: join(root, 'gone'), name: 'gone' }] }),
    ).rejects.toThrow(/ENOENT/);
    expect(readdirSync(join(root, 'iterations/2/feedbacks'))).toHaveLength(3);
  });

  it('names what lies beside it so that any disk takes it, and no two the same', () => {
    expect(attachmentNames(['/a/app.log', 'b/app.log', 'Feedbacks.md', '.env', 'a|b.txt'])).toEqual([
      'app.log',
      'app-2.log',
      'Feedbacks-2.md',
      'env',
      'a-b.txt',
    ]);
  });
});
