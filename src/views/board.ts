/** The board: every iteration on one line, and the row that summary.csv keeps of it. */
import { type CostSource, costSource, MODES, spentWords } from '../core/index.ts';
import { commitOf, type IterationStory, type Outcome, outcomeOf, type Story, stories } from './story.ts';
import { count, duration, iso, oneLine, price } from './words.ts';

/** One row of `logs/summary.csv`; the keys are its columns, in their order. */
export interface CsvRow {
  iteration: number;
  mode: string;
  /** Whole seconds; null while it runs. */
  duration_seconds: number | null;
  /** Seven characters; empty without a commit. */
  commit_hash: string;
  stories_complete: number;
  stories_total: number;
  stuck_count: number;
  /** When it began: UTC, ISO 8601. */
  timestamp: string;
  task_id: string;
  role: string;
  agent: string;
  model: string;
  outcome: Outcome;
  /** null: the agent reports no price. */
  cost_usd: number | null;
  input_tokens: number;
  output_tokens: number;
}

/** The columns of summary.csv, in their order. */
export const CSV_COLUMNS = [
  'iteration',
  'mode',
  'duration_seconds',
  'commit_hash',
  'stories_complete',
  'stories_total',
  'stuck_count',
  'timestamp',
  'task_id',
  'role',
  'agent',
  'model',
  'outcome',
  'cost_usd',
  'input_tokens',
  'output_tokens',
] as const satisfies readonly (keyof CsvRow)[];

/** The row of one iteration; its counts are those of the moment its wave was closed, or of now. */
export function csvRow(story: Story, told: IterationStory): CsvRow {
  const { done, total } = told.closed
    ? { done: told.closed.storiesDone, total: told.closed.storiesTotal }
    : stories(story.state);
  const { usage } = told;
  const lasted = told.durationMs ?? (told.endedAt === null ? null : told.endedAt - told.startedAt);
  return {
    iteration: told.iteration,
    mode: MODES[told.item.mode].csvMode,
    duration_seconds: lasted === null ? null : Math.max(0, Math.round(lasted / 1000)),
    commit_hash: (commitOf(told) ?? '').slice(0, 7),
    stories_complete: done,
    stories_total: total,
    stuck_count: told.closed?.stuck ?? story.state.stuck,
    timestamp: iso(told.startedAt) ?? '',
    task_id: told.item.task ?? '',
    role: told.item.role,
    agent: told.agent,
    model: told.model ?? '',
    outcome: outcomeOf(told),
    cost_usd: usage?.costUsd ?? null,
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
  };
}

/** Rows of all iterations that are over, in their order. */
export function csvRows(story: Story): CsvRow[] {
  return [...story.iterations.values()]
    .filter((told) => told.endedAt !== null)
    .map((told) => csvRow(story, told));
}

export interface BoardJson extends CsvRow {
  attempt: number;
  verdict_reason: string;
  findings: string[];
}

/** Every iteration, the running ones too, in their order. */
export function boardJson(story: Story): BoardJson[] {
  return [...story.iterations.values()].map((told) => ({
    ...csvRow(story, told),
    attempt: told.attempt,
    verdict_reason: told.verdict?.reason ?? told.lost ?? '',
    findings: told.verdict?.findings.map(({ kind }) => kind) ?? [],
  }));
}

export function boardText(story: Story): string {
  const rows = boardJson(story);
  if (rows.length === 0) return 'No iteration has run yet.';
  return rows.map(boardLine).join('\n');
}

function boardLine(row: BoardJson): string {
  const took = row.duration_seconds === null ? 'running' : duration(row.duration_seconds * 1000);
  const stuck = row.stuck_count > 0 ? ` · stuck ${row.stuck_count}` : '';
  const commit = row.commit_hash === '' ? '' : ` · ${row.commit_hash}`;
  const cost = row.cost_usd === null ? '' : ` · ${price(row.cost_usd)}`;
  const why = row.outcome === 'accepted' ? '' : ` — ${oneLine(row.verdict_reason, 160)}`;
  return `${String(row.iteration).padStart(3)} · ${row.mode} ${oneLine(row.task_id, 40)} · ${row.outcome} · ${took} · ${row.stories_complete}/${row.stories_total}${commit}${cost}${stuck}${why}`;
}

export interface CostJson {
  iterations: number;
  /** null: no price is known. */
  cost_usd: number | null;
  /** `estimated`: part of it is tokens by the price table; `subscription`: all of it is paid by one; null: no price is known. */
  cost_source: CostSource;
  input_tokens: number;
  output_tokens: number;
  duration_s: number;
  /** Runs whose agent reported no price, so that the sum is too small. */
  unpriced: number;
  by_agent: Record<string, { iterations: number; cost_usd: number | null; tokens: number }>;
  by_task: Record<string, { iterations: number; cost_usd: number | null; tokens: number }>;
}

/** Money, tokens and time of the whole session, by agent and by task. */
export function costJson(story: Story): CostJson {
  const { state } = story;
  const byAgent: CostJson['by_agent'] = {};
  const byTask: CostJson['by_task'] = {};
  let unpriced = 0;
  for (const told of story.iterations.values()) {
    const { usage } = told;
    if (!usage) continue;
    if (usage.costUsd === null) unpriced += 1;
    add(byAgent, told.agent, usage);
    add(byTask, told.item.task ?? 'session', usage);
  }
  return {
    iterations: story.iterations.size,
    cost_usd: state.costUsd,
    cost_source: costSource(state),
    input_tokens: state.tokens.input,
    output_tokens: state.tokens.output,
    duration_s: Math.round(state.durationsMs / 1000),
    unpriced,
    by_agent: byAgent,
    by_task: byTask,
  };
}

function add(
  sums: CostJson['by_agent'],
  key: string,
  usage: { inputTokens: number; outputTokens: number; costUsd: number | null },
): void {
  const known = Object.hasOwn(sums, key) ? sums[key]! : { iterations: 0, cost_usd: null, tokens: 0 };
  known.iterations += 1;
  if (usage.costUsd !== null) known.cost_usd = (known.cost_usd ?? 0) + usage.costUsd;
  known.tokens += usage.inputTokens + usage.outputTokens;
  Object.defineProperty(sums, key, { value: known, enumerable: true, writable: true, configurable: true });
}

export function costText(story: Story): string {
  const cost = costJson(story);
  const head = `${spentWords(story.state)} · ${cost.input_tokens} tokens in, ${cost.output_tokens} out · ${count(cost.iterations, 'iteration')} · ${duration(cost.duration_s * 1000)} of agent time`;
  const lines = Object.entries(cost.by_task).map(
    ([task, sum]) =>
      `  ${oneLine(task, 60)}: ${price(sum.cost_usd)} in ${count(sum.iterations, 'iteration')}`,
  );
  const blind = cost.unpriced > 0 ? [`  ${count(cost.unpriced, 'run')} reported no price`] : [];
  return [head, ...lines, ...blind].join('\n');
}
