/** The doctor's report for a person: one line a check, and below each that is not well, why and what to do. */
import { plain } from '../views/index.ts';
import type { Row } from './checks/check.ts';

const WORDS = { true: 'ok', warning: 'warn', false: 'FAIL' } as const;
const NAME_WIDTH = 14;
/** Looks shorter than this say nothing about speed. */
const WORTH_TELLING_MS = 1_000;

/** One row as text, with its line end. */
export function rowText({ name, ok, what, why, fix, ms }: Row): string {
  const time = ms >= WORTH_TELLING_MS ? ` (${(ms / 1000).toFixed(1)} s)` : '';
  const line = `${WORDS[`${ok}`].padEnd(5)}${name.padEnd(NAME_WIDTH)} ${plain(what)}${time}`;
  if (ok === true) return `${line}\n`;
  return `${line}\n       why: ${plain(why)}\n       fix: ${plain(fix)}\n`;
}

/** What all rows come to, and what to do next. */
export function verdictText(rows: readonly Row[], agentTried: boolean): string {
  const failed = rows.filter(({ ok }) => ok === false).length;
  const odd = rows.filter(({ ok }) => ok === 'warning').length;
  const warned = odd === 0 ? '' : ` ${odd === 1 ? 'One warning is' : `${odd} warnings are`} worth a look.`;
  const left = agentTried ? '' : ' The agent was not started (--no-agent).';
  if (failed === 0 && odd === 0) return `All is well: \`ralph run\` can start.${left}\n`;
  if (failed === 0) return `No check fails.${warned}${left}\n`;
  const many = failed === 1 ? 'One check fails' : `${failed} checks fail`;
  return `${many}: do what stands under fix, then run \`ralph doctor\` again.${warned}${left}\n`;
}
