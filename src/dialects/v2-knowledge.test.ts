import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  carryKnowledge,
  knowledgeFaults,
  promotions,
  readKnowledge,
  writeKnowledge,
  writeKnowledgeIndex,
} from './index.ts';

const at = Date.UTC(2026, 1, 8, 14, 30);
const NOTE = `---
category: how-to
source_session: 260208-143000
source_iteration: 1
source_artifacts:
  - iterations/1/plan.md
staged_at: 2026-02-08T14:30:00Z
carried_from_iteration: null
original_staged_at: null
outcome: success
audience: builders
---

# Run the tests

\`\`\`sh
npm test
\`\`\`
`;
const path = 'knowledge/how-to/run-tests.md';
const note = { path, text: NOTE };

describe('a staged note', () => {
  it('says where it comes from, and is written as it was read', () => {
    const reading = readKnowledge(note);
    expect(reading.facts).toEqual({
      category: 'how-to',
      sourceSession: '260208-143000',
      sourceCycle: 1,
      sourceArtifacts: ['iterations/1/plan.md'],
      stagedAt: at,
      carriedFrom: null,
      originalStagedAt: null,
      outcome: 'success',
    });
    expect(reading.title).toBe('Run the tests');
    expect(reading.faults).toEqual([]);
    expect(writeKnowledge(reading)).toBe(NOTE);
  });

  it('reads the same with CRLF and a BOM, and with an inline list', () => {
    const text = `\ufeff${NOTE.replaceAll('\n', '\r\n')}`;
    expect(readKnowledge({ path, text })).toEqual(readKnowledge(note));
    const inline = NOTE.replace(/:\n {2}- (.*)/, ': [$1]');
    expect(readKnowledge({ path, text: inline }).facts).toEqual(readKnowledge(note).facts);
  });

  it('says what is wrong with it', () => {
    const faults = (text: string, where = path) => knowledgeFaults([{ path: where, text }]);
    expect(faults('# Run\ntext')).toEqual([`${path} has no front matter`]);
    expect(faults('---\nid: x\n---\n', 'knowledge/x.md')).toEqual([
      'knowledge/x.md has no category; it is one of tutorials, how-to, reference, explanation',
      'knowledge/x.md has no source_session',
      'knowledge/x.md has no source_iteration',
      'knowledge/x.md has no readable staged_at',
      'knowledge/x.md says nothing',
    ]);
    expect(faults(NOTE, 'knowledge/reference/x.md')).toEqual([
      `knowledge/reference/x.md: category "how-to" is not its folder's, reference; the folder counts`,
    ]);
    expect(faults(NOTE.replace('how-to', 'how to guide'), 'knowledge/how-to/x.md')).toEqual([]);
    expect(faults('', 'knowledge/index.md')).toEqual([]);
  });

  it('is written and read back equal', () => {
    const time = fc.option(fc.integer({ min: 0, max: 2_000_000 }).map((minutes) => minutes * 60_000));
    const word = fc.option(
      fc.stringMatching(/^[a-z][a-z0-9 :#'"-]{0,12}[a-z]$/).filter((text) => text !== 'null'),
    );
    const facts = fc.record({
      category: fc.constantFrom(
        'tutorials' as const,
        'how-to' as const,
        'reference' as const,
        'explanation' as const,
      ),
      sourceSession: word,
      sourceCycle: fc.option(fc.nat(20)),
      sourceArtifacts: fc.array(fc.stringMatching(/^[a-z]+(\/[a-z: #-]+[a-z])?\.md$/), { maxLength: 3 }),
      stagedAt: time,
      carriedFrom: fc.option(fc.nat(20)),
      originalStagedAt: time,
      outcome: word,
    });
    fc.assert(
      fc.property(facts, (value) => {
        const text = writeKnowledge({ facts: value, body: '# T\n\ntext' });
        expect(readKnowledge({ path: 'x.md', text }).facts).toEqual(value);
      }),
    );
  });
});

describe('a note that nobody decided about', () => {
  const later = { cycle: 2, most: 2, at: at + 60_000 };

  it('is carried with the cycle it comes from, and staged again now', () => {
    const { carried, dropped, warnings } = carryKnowledge(
      [note, { path: 'knowledge/index.md', text: '' }],
      later,
    );
    expect([dropped, warnings]).toEqual([[], []]);
    expect(carried).toHaveLength(1);
    expect(readKnowledge(carried[0]!)).toMatchObject({
      facts: { carriedFrom: 1, originalStagedAt: at, stagedAt: at + 60_000, sourceCycle: 1 },
      others: { audience: 'builders' },
    });
  });

  it('is offered in two later cycles, then dropped', () => {
    const second = carryKnowledge([note], later).carried;
    const third = carryKnowledge(second, { ...later, cycle: 3 }).carried;
    expect(readKnowledge(third[0]!).facts).toMatchObject({ carriedFrom: 1, originalStagedAt: at });
    expect(carryKnowledge(third, { ...later, cycle: 4 })).toEqual({
      carried: [],
      dropped: [{ path, reason: 'first staged in cycle 1 and offered in 2 later cycles' }],
      warnings: [],
    });
    expect(carryKnowledge([note], { ...later, most: 0 }).carried).toEqual([]);
  });

  it.each(['-1', '0', '7', '3'])('that claims to come from cycle %s comes from where it can', (said) => {
    const text = NOTE.replace('carried_from_iteration: null', `carried_from_iteration: ${said}`);
    const { carried, warnings } = carryKnowledge([{ path, text }], { ...later, cycle: 3 });
    expect(readKnowledge(carried[0]!).facts.carriedFrom).toBe(1);
    expect(warnings).toEqual([`${path}: carried_from_iteration ${said} is no cycle before 3; 1 is taken`]);
  });

  it('was not staged in the future', () => {
    const text = NOTE.replace('original_staged_at: null', 'original_staged_at: 2099-01-01T00:00:00Z');
    const { carried } = carryKnowledge([{ path, text }], later);
    expect(readKnowledge(carried[0]!).facts.originalStagedAt).toBe(at);
  });
});

describe('where approved notes go', () => {
  const target = '.docs/how-to/run-tests.md';

  it('to their category, and the manifest nowhere', () => {
    expect(promotions([note, { path: 'knowledge/index.md', text: '' }], [])).toEqual([
      { from: path, to: target, conflict: null, there: false },
    ]);
    const stray = { path: 'knowledge/..\\..hidden?.md', text: NOTE };
    expect(promotions([stray], [])[0]!.to).toBe('.docs/how-to/hidden-.md');
  });

  it('two for one place are told apart by a number', () => {
    const twin = { path: 'knowledge/how-to/sub/Run-Tests.md', text: NOTE };
    expect(promotions([note, twin], []).map(({ to }) => to)).toEqual([target, '.docs/how-to/Run-Tests-2.md']);
  });

  it('what stands there is not overwritten: ours is put beside it', () => {
    const other = { path: target, text: 'A person wrote this.', modifiedAt: at - 1 };
    const incoming = '.docs/how-to/run-tests.incoming.md';
    expect(promotions([note], [other])).toEqual([
      { from: path, to: incoming, conflict: 'different', there: false },
    ]);
    expect(promotions([note], [{ ...other, modifiedAt: at + 1 }])[0]!.conflict).toBe('newer');
    const standing = [other, { path: incoming, text: 'An older one.', modifiedAt: at }];
    expect(promotions([note], standing)[0]!.to).toBe('.docs/how-to/run-tests-2.incoming.md');
    standing[1]!.text = NOTE;
    expect(promotions([note], standing)[0]).toMatchObject({ to: incoming, there: true });
  });

  it('the same words are there already', () => {
    const same = { path: target, text: NOTE.replaceAll('\n', '\r\n'), modifiedAt: at + 9 };
    expect(promotions([note], [same])).toEqual([{ from: path, to: target, conflict: null, there: true }]);
  });

  it('never two at one place, never over other words', () => {
    const name = fc.constantFrom('a.md', 'A.md', 'a-2.md', 'a.incoming.md', '.a.md', 'b');
    const folder = fc.constantFrom('knowledge/how-to/', 'knowledge/reference/', 'knowledge/');
    const staged = fc.array(
      fc.record({
        path: fc.tuple(folder, name).map((parts) => parts.join('')),
        text: fc.constantFrom('x', 'y'),
      }),
    );
    const doc = fc.record({
      path: fc
        .tuple(fc.constantFrom('.docs/how-to/', '.docs/reference/'), name)
        .map((parts) => parts.join('')),
      text: fc.constantFrom('x', 'y'),
      modifiedAt: fc.nat(9),
    });
    const existing = fc.uniqueArray(doc, { selector: (one) => one.path.toLowerCase() });
    fc.assert(
      fc.property(staged, existing, (notes, docs) => {
        const planned = promotions(notes, docs);
        expect(planned).toHaveLength(notes.length);
        expect(new Set(planned.map(({ to }) => to.toLowerCase())).size).toBe(notes.length);
        for (const [index, { to }] of planned.entries()) {
          const held = docs.find((one) => one.path.toLowerCase() === to.toLowerCase());
          if (held !== undefined) expect(held.text).toBe(notes[index]!.text);
        }
      }),
    );
  });
});

it('the manifest lists every note', () => {
  expect(
    writeKnowledgeIndex(2, [note, { path: 'knowledge/index.md', text: '' }]),
  ).toBe(`# Knowledge (Iteration 2)

| File | Category | Title | Outcome | Carried from |
|---|---|---|---|---|
| knowledge/how-to/run-tests.md | how-to | Run the tests | success |  |
`);
});

it('no text of a note makes anything throw', () => {
  const bits = NOTE.split('\n').concat(['---', '&a [*a]', '- ', '{', '\r', '__proto__: 1', '? x']);
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom(...bits), { maxLength: 20 }).map((lines) => lines.join('\n')),
  );
  fc.assert(
    fc.property(
      fc.array(fc.record({ path: fc.string(), text }), { maxLength: 4 }),
      fc.nat(9),
      (notes, cycle) => {
        knowledgeFaults(notes);
        writeKnowledgeIndex(cycle, notes);
        promotions(notes, []);
        for (const one of carryKnowledge(notes, { cycle, most: 2, at }).carried) {
          expect(readKnowledge(one).facts.stagedAt).toBe(at);
        }
      },
    ),
    { numRuns: 200 },
  );
});
