/**
 * The one list of keys that are read and checked, and that nothing carries out yet. A key that is
 * accepted must bind: until it does, a run refuses any value but the default, with its place.
 * `test/config-binds.test.ts` compares this list with what the code reads.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ProblemFacts } from '../core/index.ts';
import { type Path, pathText, settingPaths, valueAt } from './path.ts';
import { plainConfig } from './plain.ts';
import type { Config } from './schema.ts';

/** `key` with everything below it; `why`: what a person would wrongly rely on. */
interface Row {
  key: string;
  why: string;
}

/** In the order of the file. A key leaves the list when the product carries it out. */
export const NOT_YET: Row[] = [
  { key: 'limits.max_cycles', why: 'Planning with rounds of questions is not built.' },
  { key: 'limits.task_wip_minutes', why: 'Marks of other tools do not grow stale by time.' },
  { key: 'limits.max_carry_iterations', why: 'Knowledge is not staged and not offered again.' },
  { key: 'parallel.max_parallel_questioners', why: 'Planning with rounds of questions is not built.' },
  { key: 'parallel.worktrees', why: 'Agents side by side are not built, so there is no work tree for each.' },
  { key: 'interventions.live', why: 'Agents are not corrected while they run.' },
  {
    key: 'questions.on_timeout',
    why: 'It is for approvals, which are not built: human.interact has RObot.on_timeout, and all other questions wait without a deadline.',
  },
  { key: 'questions.approval_timeout_seconds', why: 'There are no approvals that could be carried on.' },
  { key: 'roles', why: 'Own roles, and changes of built-in ones, are not hired.' },
  { key: 'hats', why: 'Own roles, and changes of built-in ones, are not hired.' },
  { key: 'default_role', why: 'Own roles are not hired, so none can get the ready tasks.' },
  { key: 'permissions', why: 'Commands would run without being asked for.' },
  { key: 'sandbox', why: 'Agents would run without the sandbox you asked for.' },
  { key: 'worktree', why: 'No work trees are made, so nothing would be copied or run in them.' },
  { key: 'land', why: 'Work is committed to the branch you are on.' },
];

/** The row that holds this key, or undefined for a key that is carried out. */
export function notYetRow(path: Path): Row | undefined {
  const key = pathText(path);
  return NOT_YET.find((row) => isOrIsBelow(key, row.key));
}

function isOrIsBelow(key: string, above: string): boolean {
  return key === above || key.startsWith(`${above}.`);
}

/** One problem for each row with a value that differs from the default, at the place that set it. */
export function notCarriedOut(config: Config, origin: ReadonlyMap<string, string>): ProblemFacts[] {
  const defaults = plainConfig({});
  const differs = (key: string): boolean => {
    const path = key.split('.');
    return !isDeepStrictEqual(valueAt(config, path), valueAt(defaults, path));
  };
  return NOT_YET.filter(({ key }) => differs(key)).map(({ key, why }) => {
    const inside = settingPaths()
      .map(pathText)
      .filter((one) => isOrIsBelow(one, key));
    const named = inside.find((one) => one !== key && differs(one)) ?? key;
    const at = [...origin].find(([one, from]) => from !== 'default' && isOrIsBelow(one, named))?.[1];
    const facts = {
      code: 'config.not_available',
      what: `${named} is set, and this version does not carry it out yet`,
      why,
      fix: `Leave ${named} at its default to run without it.`,
    };
    return at === undefined ? facts : { ...facts, at };
  });
}
