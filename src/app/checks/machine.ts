/** Checks of the machine: what is asked before anybody knows which project is meant. */
import { gitVersion } from '../../repo/index.ts';
import type { Check } from './check.ts';

export interface MachineSubject {
  env: Record<string, string>;
  /** The folder the command was called for. */
  cwd: string;
}

const OLDEST_NODE = [20, 19];
const OLDEST_GIT = [2, 30];

export const MACHINE_CHECKS: Check<MachineSubject>[] = [
  {
    name: 'node',
    inRun: true,
    look() {
      const { node } = process.versions;
      const what = `Node ${node}`;
      if (!isOlder(node, OLDEST_NODE)) return { what };
      const why = `Ralph needs Node ${OLDEST_NODE.join('.')} or newer.`;
      const fix = 'Install a newer Node (nodejs.org, or your version manager), then run again.';
      return { what, failures: [{ code: 'node.too_old', what: `${what} is too old.`, why, fix }] };
    },
  },
  {
    name: 'git',
    inRun: false,
    async look({ cwd, env }) {
      const version = await gitVersion(cwd, env);
      if (version !== null && !isOlder(version, OLDEST_GIT)) return { what: `git ${version}` };
      const what = version === null ? 'git does not tell its version.' : `git ${version} is too old.`;
      const why = `Snapshots and commits use what git ${OLDEST_GIT.join('.')} brought.`;
      return { what, failures: [{ code: 'git.too_old', what, why, fix: 'Install a newer git.' }] };
    },
  },
];

function isOlder(version: string, least: number[]): boolean {
  const parts = version.split('.').map(Number);
  for (const [index, wanted] of least.entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return part < wanted;
  }
  return false;
}
