/** The bill of a run that was cut off, read out of the output that real versions of each agent left. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { acpAgent } from './acp.ts';
import { AGENTS, createAgent } from './registry.ts';

const RECORDED = {
  claude: 'claude-2.1.332',
  codex: 'codex-0.171.0',
  copilot: 'copilot-1.0.102',
  gemini: 'gemini-0.61.0',
  opencode: 'opencode-1.18.33',
  pi: 'pi-0.73.1',
  qwen: 'qwen-0.15.10',
} as const;
type Kind = keyof typeof RECORDED;

const fixture = (kind: Kind, name: string) =>
  fileURLToPath(new URL(`../../test/fixtures/agents/${RECORDED[kind]}/${name}.jsonl`, import.meta.url));

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ralph-bill-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

test('every agent with a stream of its own is asked here', () => {
  const own = Object.entries(AGENTS).flatMap(([kind, { program }]) => (program === null ? [] : [kind]));
  expect(Object.keys(RECORDED).sort()).toEqual(own.sort());
});

test.each(Object.keys(RECORDED) as Kind[])(
  '%s: what it told before it was cut off, and never more',
  async (kind) => {
    const agent = createAgent({ kind, name: kind });
    const whole = readFileSync(fixture(kind, 'success'), 'utf8');
    const billAt = async (text: string) => {
      const logPath = join(dir, 'log');
      writeFileSync(logPath, text);
      return agent.billIn({ logPath, model: null });
    };
    const all = await billAt(whole);
    if (!agent.capabilities.tokens) {
      expect(all).toBeNull();
      return;
    }
    expect(all).toMatchObject({ partial: true });
    const lines = whole.split('\n');
    let before = 0;
    for (let n = 0; n <= lines.length; n++) {
      // The last line is torn, as a kill leaves it; a line of stderr stands in between.
      const bill = await billAt(
        `warning: x\n${lines.slice(0, n).join('\n')}\n${(lines[n] ?? '').slice(0, 20)}`,
      );
      const tokens = bill === null ? 0 : bill.inputTokens + bill.outputTokens;
      expect(tokens).toBeGreaterThanOrEqual(before);
      expect(tokens).toBeLessThanOrEqual(all!.inputTokens + all!.outputTokens);
      before = tokens;
    }
  },
);

test.each([
  [{}, true],
  [{ CLAUDE_CODE_USE_BEDROCK: '1' }, undefined],
  [{ CLAUDE_CODE_USE_VERTEX: '1' }, undefined],
  [{ ANTHROPIC_AUTH_TOKEN: 'x' }, undefined],
])('claude, cut off, with %j: a plan pays only where no other cloud answers', async (env, byPlan) => {
  const logPath = join(dir, 'log');
  const told = readFileSync(fixture('claude', 'success'), 'utf8');
  writeFileSync(logPath, told.replace(/"apiKeySource":"[^"]*"/, '"apiKeySource":"none"'));
  const agent = createAgent({ kind: 'claude', name: 'claude', env });
  expect((await agent.billIn({ logPath, model: null }))?.byPlan).toBe(byPlan);
});

test('an agent behind the protocol: its answers are known for what they are', async () => {
  const logPath = join(dir, 'log');
  const lines = [
    { id: 0, result: { protocolVersion: 1, agentCapabilities: {} } },
    { id: 1, result: { sessionId: 's' } },
    {
      method: 'session/update',
      params: {
        sessionId: 's',
        update: { sessionUpdate: 'usage_update', cost: { amount: 1.25, currency: 'USD' } },
      },
    },
  ];
  writeFileSync(logPath, lines.map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`).join(''));
  const agent = acpAgent({ name: 'acp:x', command: ['x'] });
  expect(await agent.billIn({ logPath, model: null })).toMatchObject({ costUsd: 1.25, partial: true });
});

test('no log, and a log without a bill, tell nothing', async () => {
  const agent = createAgent({ kind: 'claude', name: 'claude' });
  expect(await agent.billIn({ logPath: join(dir, 'none'), model: null })).toBeNull();
  writeFileSync(join(dir, 'log'), 'no JSON\n');
  expect(await agent.billIn({ logPath: join(dir, 'log'), model: null })).toBeNull();
});
