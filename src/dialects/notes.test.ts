import { describe, expect, it } from 'vitest';
import { learningsOf, patternsOf, planNotes } from './notes.ts';

describe('notes of other loops', () => {
  it('progress.txt: its patterns, not its log', () => {
    const log = '\n---\n\n## 2026-03-01 - US-1\n- did it\n';
    expect(patternsOf(`# Progress Log\n\n## Codebase Patterns\n- one port a test\n${log}`)).toBe(
      '- one port a test',
    );
    expect(patternsOf(`# Progress Log\n${log}`)).toBe('');
    expect(patternsOf(`Started in March.\n${log}`)).toBe('Started in March.');
  });

  it('a plan: its notes and learnings, not its tasks', () => {
    const plan =
      '# Fix plan\n\n- [ ] one\n\n## Notes\n\nOne worker only.\n\n### Ports\n\n- 8080 is taken\n\n```\n# Notes\n```\n\n## Done\n\n- [x] two\n\n## Learnings\n\n- cache first\n\n## Gotchas\n';
    expect(planNotes(plan)).toBe(
      '## Notes\n\nOne worker only.\n\n### Ports\n\n- 8080 is taken\n\n```\n# Notes\n```\n\n## Learnings\n\n- cache first',
    );
    expect(planNotes('# Plan\n\n- [ ] one\n')).toBe('');
  });

  it('AGENT.md and learnings.md: all of it, if it says anything', () => {
    expect(learningsOf('# Learnings\n\n- use the clock\n')).toBe('# Learnings\n\n- use the clock');
    expect(learningsOf('# Learnings\n\n## Build\n')).toBe('');
  });
});
