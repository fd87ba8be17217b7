/** What `ralph agents` tells of an agent's spending, read from a project journal on disk. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { appendProject } from '../store/index.ts';
import { listAgents } from './agents-list.ts';

it("tells what each agent spent today, over all sessions, and nothing of yesterday's", async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ralph-agents-'));
  try {
    execFileSync('git', ['init', '-q', dir]);
    const at = Date.now();
    let iteration = 0;
    const of = (agent: string, usd: number, when = at) => {
      iteration += 1;
      return { at: when, type: 'cost.spent', session: '260101-220000', iteration, agent, usd };
    };
    await appendProject(dir, of('claude', 1.5), of('codex', 4), of('claude', 9, at - 86_400_000));
    await appendProject(dir, of('claude', 0.5));
    const estimated = { usd: 0.25, priceTable: '2026-11-29' };
    await appendProject(dir, { ...of('qwen', 0.25), estimated });
    await appendProject(dir, { ...of('pi', 3), by_plan: true }, of('copilot', 1), {
      ...of('copilot', 2),
      by_plan: true,
    });
    const { data, text } = await listAgents(dir, { PATH: process.env.PATH });
    const told = (data as { name: string; spent_today_usd: number }[]).map((one) => [
      one.name,
      one.spent_today_usd,
    ]);
    expect(Object.fromEntries(told)).toMatchObject({ claude: 2, codex: 4, opencode: 0, qwen: 0.25 });
    expect(text.match(/ {2}today .*/g)).toHaveLength(5);
    expect(text).toContain('$3.00 (paid by a subscription)');
    expect(text).toContain('$3.00 ($2.00 of it paid by a subscription)');
    const sources = (data as { name: string; spent_today_source: string }[]).map((one) => [
      one.name,
      one.spent_today_source,
    ]);
    expect(Object.fromEntries(sources)).toMatchObject({
      pi: 'subscription',
      copilot: 'reported',
      qwen: 'estimated',
    });
    expect(text).toContain('about $0.25 (estimated from the price table of 2026-11-29)');
  } finally {
    rmSync(dir, { recursive: true });
  }
});
