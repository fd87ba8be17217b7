/** A run's telemetry for people and spreadsheets: one CSV row per iteration, and the block at the end. */

/** One iteration's row. Null fields are written empty. */
export interface SummaryRow {
  iteration: number;
  /** `implement`, `review`, `review-fix` or the mode's name. */
  mode: string;
  durationMs: number;
  /** Any length, written short; null without a commit. */
  commit: string | null;
  storiesComplete: number;
  storiesTotal: number;
  stuckCount: number;
  /** Epoch ms. */
  at: number;
  task: string | null;
  role: string;
  agent: string;
  model: string | null;
  outcome: string;
  costUsd: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
}

/** The first line of `summary.csv`, with its newline. The first eight columns are seed 4's. */
export const summaryCsvHeader =
  'iteration,mode,duration_seconds,commit_hash,stories_complete,stories_total,stuck_count,timestamp,' +
  'task_id,role,agent,model,outcome,cost_usd,input_tokens,output_tokens\n';

/** One line of `summary.csv`, with its newline; quoted after RFC 4180 where a field needs it. */
export function summaryCsvRow(row: SummaryRow): string {
  const fields = [
    row.iteration,
    row.mode,
    Math.round(row.durationMs / 1000),
    row.commit?.slice(0, 7) ?? '',
    row.storiesComplete,
    row.storiesTotal,
    row.stuckCount,
    utc(row.at),
    row.task ?? '',
    row.role,
    row.agent,
    row.model ?? '',
    row.outcome,
    // As the agent told it: a rounded number would no longer equal the bill.
    row.costUsd ?? '',
    row.inputTokens ?? '',
    row.outputTokens ?? '',
  ];
  return `${fields.map(csvField).join(',')}\n`;
}

function csvField(value: string | number): string {
  const text = String(value);
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** An instant as the files of all seeds carry it: UTC, whole seconds, `Z`. */
export function utc(at: number): string {
  return new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** What the block at the end tells. */
export interface EndFacts {
  /** e.g. `COMPLETE`; written in capitals. */
  word: string;
  code: number;
  iterations: number;
  /** Those of them that no limit counts: they died or were broken off. */
  uncounted: number;
  /** null: no limit. */
  maxIterations: number | null;
  durationMs: number;
  storiesComplete: number;
  storiesTotal: number;
  stuckIterations: number;
  /** Path of the summary file as a person would open it. */
  log: string;
  /** Further lines below the block: what to do next. */
  next: string[];
}

/** Seed 4's end block, then what to do next. Ends with a newline. */
export function endSummary(facts: EndFacts): string {
  const average = facts.iterations === 0 ? 0 : facts.durationMs / facts.iterations;
  const limit = facts.maxIterations === null ? '' : ` / ${facts.maxIterations}`;
  const counted = facts.iterations - facts.uncounted;
  const more = facts.uncounted === 0 ? '' : ` (and ${facts.uncounted} that led nowhere and do not count)`;
  const lines = [
    'Ralph Loop Summary',
    '──────────────────',
    `Exit:        ${facts.word.toUpperCase()} (code ${facts.code})`,
    `Iterations:  ${counted}${limit}${more}`,
    `Duration:    ${spoken(facts.durationMs)}`,
    `Stories:     ${facts.storiesComplete}/${facts.storiesTotal} complete`,
    `Avg/iter:    ${spoken(average)}`,
    `Stuck iters: ${facts.stuckIterations}${facts.stuckIterations > facts.iterations ? ' (in the whole session)' : ''}`,
    `Log:         ${facts.log}`,
  ];
  if (facts.next.length > 0) lines.push('', ...facts.next);
  return `${lines.join('\n')}\n`;
}

/** `47m 23s`, `2h 03m 05s`, `9s`. */
function spoken(ms: number): string {
  const total = Math.max(0, Math.round(ms / 1000));
  const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  const two = (n: number) => String(n).padStart(2, '0');
  if (hours > 0) return `${hours}h ${two(minutes)}m ${two(seconds)}s`;
  return minutes > 0 ? `${minutes}m ${two(seconds)}s` : `${seconds}s`;
}
