import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Claim } from './claim.ts';
import { hear, mayPublish, topicMatches, type Utterances } from './hear.ts';
import { type OutboxLine, readOutboxLine } from './outbox-line.ts';

function heard(finalMessage: string, rest: Partial<Utterances> = {}): Claim {
  return hear({
    finalMessage,
    outbox: [],
    prompt: 'Do the work.',
    completionWord: null,
    taskIds: ['task-1', 'task-2'],
    activeTask: 'task-1',
    publishes: null,
    ...rest,
  });
}

const live = { verify: (token: string) => token === 'live' };
const line = (topic: string, payload: unknown, token = 'live'): OutboxLine =>
  readOutboxLine(JSON.stringify({ topic, payload, token }), live);
const block = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

describe('promise tags', () => {
  it('a complete tag on its own line claims the task', () => {
    expect(heard('All done.\n\n<promise>COMPLETE</promise>\n')).toMatchObject({
      kind: 'complete',
      via: 'tag',
    });
  });

  it.each([
    'I will not output <promise>COMPLETE</promise> yet.',
    'COMPLETE',
    '> <promise>COMPLETE</promise>',
    '- <promise>COMPLETE</promise>',
    '`<promise>COMPLETE</promise>`',
    '```\n<promise>COMPLETE</promise>\n```',
    '~~~text\n<promise>COMPLETE</promise>\n~~~',
    '```json\n{"status":"completed"',
    '    <promise>COMPLETE</promise>',
    '<promise>COMPLETE</promise> is what I would say',
    '<promise>COMPLETE',
    '<promise>COMPLETED? no</promise>',
  ])('%j claims nothing', (message) => {
    expect(heard(message)).toMatchObject({ kind: 'none', via: 'none' });
  });

  it('a tag in colours, with a carriage return, still counts', () => {
    expect(heard('\u001b[32m<prom\u001b[1mise>COMPLETE</promise>\u001b[0m\r\n').kind).toBe('complete');
  });

  it('a reason may span lines, hold a fence, and is cut at 4 KB', () => {
    const claim = heard('<promise>BLOCKED: no key.\nTried:\n```\nenv\n```\nAsk ops.</promise>');
    expect(claim).toMatchObject({ kind: 'blocked', text: 'no key.\nTried:\n```\nenv\n```\nAsk ops.' });
    const long = heard(`<promise>DECIDE:${'why '.repeat(2_000)}</promise>`);
    expect(long.kind).toBe('decide');
    expect(long.text.length).toBeLessThanOrEqual(4_096);
    expect(long.text).toMatch(/… shortened$/);
  });

  it.each(['<promise>BLOCKED:</promise>', '<promise>BLOCKED: \n </promise>', '<promise>DECIDE</promise>'])(
    '%j has an empty reason and is no signal',
    (message) => {
      expect(heard(message)).toMatchObject({ kind: 'none', marks: ['empty_reason'] });
    },
  );

  it.each(['<reason>', '...', '…', 'reason', '[question]', 'your reason here', '{reason}', '`<reason>`'])(
    'the placeholder %j is no reason',
    (reason) => {
      expect(heard(`<promise>BLOCKED:${reason}</promise>`).kind).toBe('none');
    },
  );

  it('a tag that was never closed does not swallow the next one', () => {
    expect(heard('<promise>BLOCKED: hm\n\n<promise>COMPLETE</promise>').kind).toBe('complete');
  });

  it('BLOCKED beats DECIDE, and both beat COMPLETE', () => {
    const complete = '<promise>COMPLETE</promise>';
    const decide = '<promise>DECIDE:A or B?</promise>';
    const blocked = '<promise>BLOCKED:no network</promise>';
    expect(heard([complete, decide].join('\n'))).toMatchObject({ kind: 'decide', text: 'A or B?' });
    expect(heard([blocked, decide, complete].join('\n'))).toMatchObject({
      kind: 'blocked',
      text: 'no network',
    });
  });

  it('a configured completion word counts alone on its line or in the tag', () => {
    const word = { completionWord: 'LOOP_COMPLETE' };
    expect(heard('Done.\nLOOP_COMPLETE', word).kind).toBe('complete');
    expect(heard('<promise>LOOP_COMPLETE</promise>', word).kind).toBe('complete');
    expect(heard('I say LOOP_COMPLETE now', word).kind).toBe('none');
    expect(heard('LOOP_COMPLETE').kind).toBe('none');
    expect(heard('COMPLETE', { completionWord: 'COMPLETE' }).kind).toBe('none');
    expect(heard('', { ...word, outbox: [line('LOOP_COMPLETE', 'all done')] })).toMatchObject({
      kind: 'complete',
      via: 'outbox',
      topics: [],
    });
  });
});

describe('what looks like a claim and is none', () => {
  const status = (value: string) => `---RALPH_STATUS---\nEXIT_SIGNAL: ${value}\n---END_RALPH_STATUS---`;

  it.each([
    [status('true | false'), 'true | false'],
    ['EXIT_SIGNAL: true/false', 'true/false'],
    ['**EXIT_SIGNAL:** [true or false]', '[true or false]'],
    ['<promise>COMPLETE | BLOCKED</promise>', 'COMPLETE | BLOCKED'],
    ['<promise>BLOCKED: <reason></promise>', '<reason>'],
    [block({ status: 'completed | failed | blocked | paused' }), 'completed | failed | blocked | paused'],
  ])('%j is a placeholder, and named as one', (message, words) => {
    const claim = heard(message);
    expect(claim.kind).toBe('none');
    expect(claim.ignored).toEqual({ why: 'placeholder', words });
  });

  it.each(['Done.', 'STATUS: N/A', status('maybe'), status('false'), '<promise>soon</promise>'])(
    '%j looks like none',
    (message) => expect(heard(message)).not.toHaveProperty('ignored'),
  );

  it('a real claim beside a placeholder stands, and nothing is held against it', () => {
    const claim = heard(
      `The form is EXIT_SIGNAL: true | false\nEXIT_SIGNAL: true | false\n${status('true')}`,
    );
    expect(claim.kind).toBe('complete');
    expect(claim).not.toHaveProperty('ignored');
  });

  it('a signal in the output of a tool is named, where the message claims nothing', () => {
    expect(heard('I read it.', { toolClaimed: true })).toMatchObject({
      kind: 'none',
      ignored: { why: 'tool' },
    });
    expect(heard('<promise>COMPLETE</promise>', { toolClaimed: true })).not.toHaveProperty('ignored');
  });
});

describe('echoes of the prompt', () => {
  const prompt = [
    'Work on the task.',
    'When everything is finished, print',
    '<promise>COMPLETE</promise>',
    'and then this block:',
    '---RALPH_STATUS---',
    'STATUS: COMPLETE',
    'TASKS: 1',
    'EXIT_SIGNAL: true',
    '---END_RALPH_STATUS---',
  ].join('\n');

  it('the whole prompt, handed back, claims nothing', () => {
    expect(heard(prompt, { prompt })).toMatchObject({ kind: 'none', marks: ['prompt_echo'] });
    expect(heard(`Sure. You asked me:\n\n${prompt}`, { prompt })).toMatchObject({ kind: 'none' });
  });

  it('a passage around the tag is an echo, the asked-for tag alone is an answer', () => {
    const passage = 'When everything is finished, print\n<promise>COMPLETE</promise>';
    expect(heard(passage, { prompt })).toMatchObject({ kind: 'none', marks: ['prompt_echo'] });
    expect(heard('I added the parser.\n<promise>COMPLETE</promise>', { prompt }).kind).toBe('complete');
    expect(heard('<promise>COMPLETE</promise>', { prompt }).kind).toBe('complete');
  });

  it('the sample block alone is an echo, a filled-in block is not', () => {
    const sample = prompt.slice(prompt.indexOf('---RALPH_STATUS'));
    expect(heard(`\`\`\`\n${sample}\n\`\`\``, { prompt })).toMatchObject({
      kind: 'none',
      marks: ['prompt_echo'],
    });
    expect(heard(sample.replace('TASKS: 1', 'TASKS: 3'), { prompt }).kind).toBe('complete');
  });
});

describe('the status block', () => {
  const status = (...lines: string[]) =>
    ['---RALPH_STATUS---', ...lines, '---END_RALPH_STATUS---'].join('\n');

  it('counts with and without a fence', () => {
    expect(heard(status('EXIT_SIGNAL: true'))).toMatchObject({ kind: 'complete', via: 'status' });
    expect(heard(`\`\`\`\n${status('EXIT_SIGNAL: true')}\n\`\`\``).kind).toBe('complete');
    expect(heard('EXIT_SIGNAL: true').kind).toBe('complete');
    expect(heard('**EXIT_SIGNAL:** true').kind).toBe('complete');
    expect(heard(status('STATUS: COMPLETE')).kind).toBe('complete');
  });

  it('the placeholder "true | false", a sentence and a fence of code are ignored', () => {
    expect(heard(status('STATUS: COMPLETE', 'EXIT_SIGNAL: true | false')).kind).toBe('none');
    expect(heard('I will set EXIT_SIGNAL: true later').kind).toBe('none');
    expect(heard('```python\nEXIT_SIGNAL: true\n```').kind).toBe('none');
  });

  it('a plain "not finished" undoes a complete tag', () => {
    expect(heard('<promise>COMPLETE</promise>\nEXIT_SIGNAL: false')).toMatchObject({
      kind: 'none',
      via: 'status',
    });
  });

  it('a blocked status carries its recommendation', () => {
    expect(
      heard(status('STATUS: BLOCKED', 'EXIT_SIGNAL: false', 'RECOMMENDATION: needs a key')),
    ).toMatchObject({
      kind: 'blocked',
      text: 'needs a key',
    });
  });
});

describe('result objects', () => {
  it('the last json block that holds a result counts', () => {
    const message = `${block({ status: 'failed', summary: 'first' })}\n${block({ status: 'completed', summary: 'then' })}\n${block({ port: 1 })}`;
    expect(heard(message)).toMatchObject({ kind: 'complete', via: 'result', result: { summary: 'then' } });
  });

  it('a block inside another fence, or the sample answer of an api, is no result', () => {
    expect(heard(`\`\`\`\`markdown\n${block({ status: 'completed' })}\n\`\`\`\``).kind).toBe('none');
    expect(heard(block({ status: 'ok', uptime: 3 })).kind).toBe('none');
    expect(heard(block({ status: 'ok', summary: 'x', task_id: 'task-1' })).kind).toBe('complete');
  });

  it('fields are read in many spellings and malformed ones are left out', () => {
    const { result } = heard(
      block({
        status: 'done',
        taskId: 'task-1',
        filesModified: ['a.ts', 7, { path: 'b.ts' }, null],
        evidence: [{ criterion: 'c', kind: 'command', value: 'npm test', exit_code: 0 }, 'looked', 4],
        criteria_results: { builds: true, 'says hello': { status: 'not met', reason: 'silent' }, odd: 12 },
        blockers: 'none of them',
        mode: ['x'],
        unheard_of: {},
      }),
    );
    expect(result).toMatchObject({
      status: 'completed',
      taskId: 'task-1',
      filesModified: ['a.ts', '7', 'b.ts'],
      evidence: [
        { criterion: 'c', kind: 'command', value: 'npm test', exitCode: 0 },
        { criterion: '', kind: 'text', value: 'looked' },
      ],
      criteriaResults: [
        { criterion: 'builds', met: true, note: '' },
        { criterion: 'says hello', met: false, note: 'silent' },
      ],
    });
  });

  it.each([
    [{ verdict: 'Qualified' }, 'Qualified'],
    [{ verdict: 'changes_requested' }, 'Failed'],
    [{ Recommendation: { status: 'Failed' } }, 'Failed'],
    [{ verdict: 'Qualified', recommendation: 'Failed' }, 'Failed'],
    [{ verdict: 'not qualified' }, 'Failed'],
    [{ status: 'completed', verdict: 'perhaps' }, null],
  ])('%j gives the verdict %s', (object, verdict) => {
    expect(heard(block(object)).result?.verdict).toBe(verdict);
  });

  it('completed with unmet criteria is failed, except in a review', () => {
    expect(heard(block({ status: 'completed', success_criteria_met: false })).kind).toBe('failed');
    expect(
      heard(block({ status: 'completed', criteria_breakdown: { total: 3, met: 2, not_met: 1 } })).kind,
    ).toBe('failed');
    expect(heard(block({ status: 'completed', verdict: 'Failed', success_criteria_met: false })).kind).toBe(
      'complete',
    );
  });

  it('the worse status wins and the details come from the most trusted', () => {
    const outbox = [
      line('ralph.result', { status: 'completed', summary: 'by outbox', verdict: 'Qualified' }),
    ];
    const claim = heard(
      block({ status: 'failed', summary: 'by message', verdict: 'Failed', files_modified: ['x'] }),
      { outbox },
    );
    expect(claim).toMatchObject({
      kind: 'failed',
      via: 'result',
      files: ['x'],
      result: { summary: 'by outbox', verdict: 'Failed' },
    });
    expect(heard('<promise>COMPLETE</promise>', { outbox })).toMatchObject({
      kind: 'complete',
      via: 'outbox',
    });
    expect(heard('<promise>BLOCKED:no key</promise>', { outbox })).toMatchObject({
      kind: 'blocked',
      via: 'tag',
    });
  });

  it('a blocked result tells its blockers; with no word at all it is no signal', () => {
    expect(heard(block({ status: 'blocked', blockers: ['a', 'b'], question: 'q' })).text).toBe('a\nb');
    expect(heard(block({ status: 'blocked' }))).toMatchObject({ kind: 'none', marks: ['empty_reason'] });
    expect(heard(block({ status: 'paused', question: 'A or B?' }))).toMatchObject({
      kind: 'decide',
      text: 'A or B?',
    });
    expect(
      heard(`${block({ status: 'paused', summary: 'at a safe point' })}\n<promise>COMPLETE</promise>`).kind,
    ).toBe('none');
  });

  it('a completion of another task claims nothing here and is noted', () => {
    expect(heard(block({ status: 'completed', task_id: 'TASK-2' }))).toMatchObject({
      kind: 'none',
      result: null,
      marks: ['extra_completion'],
    });
    expect(heard(block({ status: 'completed', task_id: 'Task 1 (parser)' }))).toMatchObject({
      kind: 'complete',
      result: { taskId: null },
    });
    expect(heard(block({ status: 'completed', task_id: 'TASK-1' })).result?.taskId).toBe('task-1');
  });
});

describe('the outbox', () => {
  it('the last result line counts, as an object or as JSON text', () => {
    const outbox = [
      line('ralph.result', { status: 'failed' }),
      line('ralph.result', JSON.stringify({ status: 'success', summary: 'ok' })),
    ];
    expect(heard('', { outbox })).toMatchObject({
      kind: 'complete',
      via: 'outbox',
      result: { summary: 'ok' },
    });
  });

  it('a line without the live token is forged, whatever it says', () => {
    const forged = line('ralph.result', { status: 'completed' }, 'yesterday');
    expect(forged).toEqual({ kind: 'forged', topic: 'ralph.result', as: 'attempt' });
    expect(readOutboxLine('{"topic":"a"}', live).kind).toBe('forged');
    expect(heard('', { outbox: [forged] })).toMatchObject({ kind: 'none', marks: ['forged_claim'] });
  });

  it('topics outside publishes are dropped and told; a question is never out of bounds', () => {
    const outbox = [line('build.done', 'x'), line('deploy.now', ''), line('human.interact', 'A or B?')];
    const claim = heard('', { outbox, publishes: ['build.*'] });
    expect(claim.topics).toEqual([
      { topic: 'build.done', payload: 'x' },
      { topic: 'human.interact', payload: 'A or B?' },
    ]);
    expect(claim.marks).toEqual(['unlisted_topic']);
    expect(heard('', { outbox: [line('ralph.unlisted', { topic: 'x' })] }).marks).toEqual(['unlisted_topic']);
  });

  it('asking and notifying in one turn is marked', () => {
    const ask = line('human.interact', { text: 'A or B?' });
    const tell = line('interact.progress', 'half way');
    const claim = heard('', { outbox: [tell, ask] });
    expect(claim).toMatchObject({ notes: ['half way'], marks: ['asked_and_notified'] });
    expect(claim.topics).toEqual([{ topic: 'human.interact', payload: '{"text":"A or B?"}' }]);
    expect(heard('', { outbox: [line('ralph.note', 'x'), ask] }).marks).toEqual([]);
  });

  it.each(['', 'half a li', '[]', '{"token":"live"}', '{"topic":" ","token":"live"}'])(
    '%j is unreadable',
    (text) => {
      expect(readOutboxLine(text, live).kind).toBe('unreadable');
    },
  );

  it('reserved topics that say nothing are unreadable, not topics', () => {
    expect(line('ralph.result', { words: 1 }).kind).toBe('unreadable');
    expect(line('ralph.shutdown', '').kind).toBe('unreadable');
    expect(line('interact.progress', '').kind).toBe('unreadable');
  });

  it('a star matches one segment', () => {
    expect(topicMatches('build.*', 'build.done')).toBe(true);
    expect(topicMatches('build.*', 'build.done.twice')).toBe(false);
    expect(mayPublish('a', null)).toBe(true);
    expect(mayPublish('a', [])).toBe(false);
  });
});

describe('hearing never throws', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '<promise>',
      '</promise>',
      'BLOCKED:',
      'COMPLETE',
      '```',
      '```json',
      '\n',
      '---RALPH_STATUS---',
      'EXIT_SIGNAL: true',
      '\u001b[',
    ),
    fc.json(),
  );
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));

  it('on any message, prompt and outbox', () => {
    fc.assert(
      fc.property(
        text,
        text,
        fc.array(text, { maxLength: 5 }),
        fc.boolean(),
        (message, prompt, lines, token) => {
          const outbox = lines.map((l) => readOutboxLine(l, { verify: () => token }));
          const claim = heard(message, { prompt, outbox });
          if (claim.kind === 'blocked' || claim.kind === 'decide') expect(claim.text).not.toBe('');
        },
      ),
      { numRuns: 500 },
    );
  });

  it('on any result object', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom(
            'status',
            'verdict',
            'evidence',
            'criteria_results',
            'files_modified',
            'blockers',
            'question',
            'task_id',
            'criteria_breakdown',
          ),
          fc.anything(),
        ),
        (object) => {
          heard(block(object));
          line('ralph.result', object);
        },
      ),
    );
  });

  it('on nesting deeper than the stack', () => {
    const deep = `${'{"text":'.repeat(60_000)}1${'}'.repeat(60_000)}`;
    expect(
      readOutboxLine(
        `{"topic":"x","token":"live","payload":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
        live,
      ).kind,
    ).toMatch(/topic|unreadable/);
    expect(heard(`\`\`\`json\n{"status":"completed","summary":${deep}}\n\`\`\``).kind).toMatch(
      /none|complete/,
    );
  });

  it('reads a megabyte of open tags without going quadratic', () => {
    expect(heard('<promise>BLOCKED: x\n'.repeat(50_000)).kind).toBe('none');
  });
});
