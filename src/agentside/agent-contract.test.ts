import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { hear, readQuestionText } from '../core/index.ts';

const page = readFileSync(
  join(dirname(fileURLToPath(import.meta.url)), '../../docs/reference/agent-contract.md'),
  'utf8',
);
const blocks = (info: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${info}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text]) => text!);
const heard = (finalMessage: string) =>
  hear({
    finalMessage,
    outbox: [],
    prompt: '',
    completionWord: null,
    taskIds: ['task-3'],
    activeTask: 'task-3',
    publishes: null,
  });

describe('the examples of the agent contract', () => {
  it('its result objects are read whole', () => {
    const [work, review] = blocks('json').map((text) => heard(`\`\`\`json\n${text}\`\`\``));
    expect(work).toMatchObject({
      kind: 'complete',
      files: ['src/parse.ts', 'test/parse.test.ts'],
      result: { evidence: [{ criterion: 'rejects words', exitCode: 0 }], successCriteriaMet: true },
    });
    expect(review?.result).toMatchObject({
      verdict: 'Failed',
      criteriaResults: [{ met: true }, { met: false }],
    });
    expect(review?.result?.feedback).toContain('src/parse.ts:12');
  });

  it('the output of its smallest agent is a claim', () => {
    const output = /printf '(.*)'/.exec(page)?.[1]?.replaceAll('\\n', '\n') ?? '';
    expect(heard(output)).toMatchObject({ kind: 'complete', via: 'tag' });
  });

  it('its two questions are the same question', () => {
    const [words, json] = [
      ...page.matchAll(/^ralph emit human\.interact (["'])(.*)\1( --payload-json)?$/gm),
    ].map(([, , text]) => readQuestionText(text!));
    expect(words).toMatchObject({
      text: 'Which store?',
      options: [{ key: 'A' }, { key: 'B' }],
      default: 'SQLite',
    });
    expect(json).toMatchObject({ text: 'Which store?', options: [{ key: 'A' }, { key: 'B' }], hold: 'task' });
  });
});
