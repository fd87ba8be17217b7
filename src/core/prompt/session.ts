/**
 * What a call in the cycle of a session is told besides its task: the files it is given, what it may write, what
 * was wrong with its last try. The bounds are those of the mode table.
 */
import { MODES } from '../role.ts';
import { type Data, pathList } from './data.ts';
import type { PromptInput, PromptSession } from './input.ts';

const BUDGET = { inputs: 60, guardrails: 3_000, faults: 40, faultChars: 600 } as const;

/** Lines of the list of inputs. */
export function sessionInputs(session: PromptSession, data: Data): string[] {
  const { dir, cycleDir, cycle, category, round, reportPath, inputs, feedback } = session;
  const all: [string, string][] = [
    ['session folder', dir],
    ['folder of this cycle', cycleDir],
    ['cycle', String(cycle)],
    ...(category ? ([['category', category]] as [string, string][]) : []),
    ...(round === undefined ? [] : ([['round of questions', String(round)]] as [string, string][])),
    ...(reportPath ? ([['report path', reportPath]] as [string, string][]) : []),
    ...inputs.map(({ name, path }) => [name, path] as [string, string]),
    ...feedback.map((path) => ['feedback', path] as [string, string]),
  ];
  const lines = all
    .slice(0, BUDGET.inputs)
    .map(([name, value]) => `- ${data.line(name, 80)}: ${data.line(value, 600)}`);
  if (all.length > lines.length)
    lines.push(`- … shortened: ${all.length - lines.length} more lie in the folder of this cycle`);
  return lines;
}

/** The exact errors of the last try. */
export function faultsText({ faults = [] }: PromptSession, data: Data): string {
  if (faults.length === 0) return '';
  const lines = faults.slice(0, BUDGET.faults).map((fault) => `- ${data.line(fault, BUDGET.faultChars)}`);
  if (faults.length > lines.length) lines.push(`- … shortened: ${faults.length - lines.length} more`);
  return `The last try of this call was sent back because of the following. Mend exactly this first; what was right in your files stays.\n\n${lines.join('\n')}`;
}

export function guardrailsText({ guardrails = '' }: PromptSession, data: Data): string {
  if (guardrails.trim() === '') return '';
  return `Set for this session in its instructions file:\n\n${data.block(guardrails, BUDGET.guardrails)}`;
}

/** What is offered to a librarian. */
export function stagedText({ staged = [] }: PromptSession, data: Data): string {
  return pathList(staged, data);
}

/** Everything this call may write, and what nobody but the loop writes. */
export function mayWriteText({ mode, session }: PromptInput, data: Data): string {
  if (session === undefined) return '';
  const { mayWrite, mustWrite, works } = MODES[mode];
  const lines: string[] = [];
  if (mayWrite === 'repository') lines.push('- the files of the repository that your task needs');
  if (mode === 'PROMOTE') lines.push('- `.docs/`, in the project');
  for (const pattern of works) {
    const place = placed(pattern, session);
    if (place !== null)
      lines.push(`- \`${data.line(place, 600)}\`${mustWrite.includes(pattern) ? ' (must be there)' : ''}`);
  }
  const few = lines.length === 0 ? 'Nothing: your result is the whole of it.' : lines.join('\n');
  return `${few}\n\n${SINGLE_WRITER}${mayWrite === 'repository' ? '' : ' Anything else in the repository stays as it is.'}`;
}

const SINGLE_WRITER =
  'metadata.yaml, progress.md and everything under signals/ have a single writer, the loop: never write them, and set no marker anywhere. What is written against this is undone and counts against the call.';

/** A pattern of the mode table as a path of this call; null where the call has no such file. */
function placed(pattern: string, { cycleDir, category, reportPath }: PromptSession): string | null {
  if (pattern.includes('{report}')) return reportPath ?? null;
  const named = pattern.replace('{category}', category ? category : '*').replace('/**', '/');
  return `${cycleDir.replace(/\/+$/, '')}/${named}`;
}
