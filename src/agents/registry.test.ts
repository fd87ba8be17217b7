import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Problem } from '../core/index.ts';
import { type AgentSpec, createAgent, findAgents } from './registry.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-registry-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the agents', () => {
  it('are made by kind and carry the name that facts will tell', () => {
    const specs: AgentSpec[] = [
      { kind: 'claude', name: 'claude' },
      { kind: 'command', name: 'mine', command: ['sh', 'agent.sh'] },
      { kind: 'script', name: 'script', script: '/tmp/none.json' },
      { kind: 'codex', name: 'codex' },
    ];
    expect(specs.map((spec) => createAgent(spec).name)).toEqual(['claude', 'mine', 'script', 'codex']);
    expect(createAgent(specs[0]!).capabilities.limits).toBe(true);
    expect(createAgent(specs[1]!).capabilities.toolEvents).toBe(false);
  });

  it.each(['cursor', 'toString', '__proto__'])('do not include %s', (kind) => {
    expect(() => createAgent({ kind, name: 'x' } as unknown as AgentSpec)).toThrow(Problem);
  });

  it('are found where their program stands on PATH', () => {
    expect(findAgents({ PATH: folder })).toEqual([]);
    writeFileSync(join(folder, 'claude'), '#!/bin/sh\n');
    expect(findAgents({ PATH: folder })).toEqual([]);
    chmodSync(join(folder, 'claude'), 0o755);
    expect(findAgents({ PATH: folder })).toEqual([{ name: 'claude', program: join(folder, 'claude') }]);
  });
});
