/** The two arms of the comparison, as a user would write them, and the policies they become. */
import { loadConfig, toPolicy } from '../../src/config/index.ts';
import type { Policy } from '../../src/core/index.ts';
import { CHECK } from './mix.ts';

export type Arm = 'baseline' | 'interventions';

export interface Thresholds {
  noFiles: number;
  falseCompletion: number;
}

export const ITERATIONS = 100;
export const DEFAULT_THRESHOLDS: Thresholds = { noFiles: 3, falseCompletion: 2 };

interface ArmOptions {
  thresholds?: Thresholds;
  /** Another agent to turn to. */
  fallback?: string[];
  iterations?: number;
}

/** ralph.yml of an arm. The stuck limit is off, so that both arms have the same number of iterations. */
export function configOf(
  arm: Arm,
  { thresholds = DEFAULT_THRESHOLDS, fallback = [], iterations = ITERATIONS }: ArmOptions = {},
): string {
  const shared = [
    'agent: simulated',
    'mode: speed',
    'commit: none',
    `limits: { max_iterations: ${iterations}, max_stuck: 0 }`,
    `gates: [{ name: check, run: '${CHECK.replaceAll("'", "''")}' }]`,
    'agents: { simulated: { command: ["true"] }, second: { command: ["true"] } }',
  ];
  const own =
    arm === 'baseline'
      ? ['interventions: { enabled: false }', 'adaptive_timeout: { enabled: false }']
      : [
          `interventions: { threshold_no_files: ${thresholds.noFiles}, threshold_false_completion: ${thresholds.falseCompletion} }`,
          ...(fallback.length === 0 ? [] : [`fallback: [${fallback.join(', ')}]`]),
        ];
  return `${[...shared, ...own].join('\n')}\n`;
}

/** The policy that `ralph run` would write into the journal for this text. */
export async function policyFor(arm: Arm, options: ArmOptions = {}): Promise<Policy> {
  const text = configOf(arm, options);
  const { settings } = await loadConfig({
    projectDir: '/project',
    env: {},
    flags: {},
    agentNames: [],
    readFile: async (path) => {
      if (path === '/project/ralph.yml') return text;
      throw Object.assign(new Error('not there'), { code: 'ENOENT' });
    },
  });
  return toPolicy(settings, {
    reviewedList: false,
    listGates: [],
    interactive: false,
    channels: [],
    agent: 'simulated',
  });
}
