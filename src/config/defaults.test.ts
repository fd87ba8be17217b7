import { expect, test } from 'vitest';
import { configSchema } from './schema.ts';

/** The table of surface.md section 3, typed again by hand: a changed default must be meant twice. */
const DEFAULTS = {
  agent: 'auto',
  model: null,
  team: 'auto',
  tasks: null,
  mode: 'balanced',
  completion_word: null,
  gates: [],
  protect: [],
  commit: 'auto',
  limits: {
    max_iterations: null,
    max_stuck: 3,
    max_task_attempts: 3,
    on_exhausted: 'ask',
    review_cap: 5,
    max_cycles: 5,
    max_time: null,
    max_cost_usd: null,
    max_cost_usd_per_task: null,
    max_cost_usd_per_day: null,
    max_tokens: null,
    idle_timeout: 600,
    pause_grace: 60,
    task_wip_minutes: 120,
    cooldown_delay_seconds: 0,
    retry_delays_s: [0, 30, 60, 60],
    max_subagent_retries: 4,
    max_carry_iterations: 2,
  },
  parallel: {
    max_parallel_executors: 3,
    max_parallel_reviewers: 3,
    max_parallel_questioners: 3,
    worktrees: true,
  },
  interventions: {
    enabled: true,
    threshold_no_files: 3,
    threshold_false_completion: 2,
    feedback_rotation_days: 30,
    aggressive_mode: false,
    live: false,
  },
  adaptive_timeout: {
    enabled: true,
    complexity_scaling: true,
    failure_scaling: true,
    max_timeout: 3600,
    min_timeout: 60,
    timeout_multiplier_per_failure: 1.5,
    learn: false,
    complexity: {
      simple: { multiplier: 1, keywords: ['fix', 'update', 'refactor', 'add'] },
      medium: { multiplier: 1.5, keywords: ['test', 'mock', 'fixture'] },
      complex: { multiplier: 2, keywords: ['CLI', 'command', 'parser'] },
      ui_heavy: {
        multiplier: 3,
        keywords: ['UI', 'View', 'Chart', 'Dashboard', 'SwiftUI'],
      },
    },
  },
  modes: { speed: 120, balanced: 900, quality: 1800 },
  unblock: { auto_suggest: true, auto: false, max_auto_unblock_attempts: 1 },
  questions: { hold: 'session', on_timeout: 'proceed', approval_timeout_seconds: null },
  agents: {},
  fallback: [],
  teams: {},
  roles: {},
  required_topics: [],
  RObot: {
    enabled: false,
    on_timeout: 'proceed',
    telegram: { api_url: 'https://api.telegram.org', allowed_users: [] },
  },
  channels: { desktop: false },
  permissions: { default: 'allow', rules: [] },
  sandbox: 'none',
  host: { min_free_disk_mb: 500, min_free_memory_mb: 300, keep_awake: false },
  worktree: { copy: [], run: [] },
  land: 'merge',
  merge: { resolve: null },
  memories: { enabled: true, budget_tokens: 2000 },
  skills: { dirs: ['skills', '~/.copilot/skills'] },
  track_sessions: false,
};

test('an empty file means exactly the defaults of the surface', () => {
  expect(configSchema.parse({})).toEqual(DEFAULTS);
});

test('the defaults of what a person adds: a gate, an agent, a role, a webhook', () => {
  const config = configSchema.parse({
    gates: [{ name: 'test', run: 'npm test' }],
    agents: { mine: { command: ['bash', 'agent.sh'] } },
    roles: { builder: {} },
    channels: { webhook: { url: 'http://127.0.0.1:1/' } },
  });
  expect(config.gates).toEqual([
    {
      name: 'test',
      run: 'npm test',
      timeout_s: 600,
      required: true,
      min_tests: 0,
      baseline: 'no_regression',
    },
  ]);
  expect(config.agents.mine).toEqual({ command: ['bash', 'agent.sh'], prompt: 'stdin', output: 'text' });
  expect(config.roles.builder).toEqual({ triggers: [], publishes: [] });
  expect(config.channels.webhook).toEqual({
    url: 'http://127.0.0.1:1/',
    answers: false,
    listen: '127.0.0.1:0',
  });
});

test("a class's own keywords replace that class's list and nothing else", () => {
  const { complexity } = configSchema.parse({
    adaptive_timeout: { complexity: { ui_heavy: { keywords: ['Screen'] } } },
  }).adaptive_timeout;
  expect(complexity).toEqual({
    ...DEFAULTS.adaptive_timeout.complexity,
    ui_heavy: { multiplier: 3, keywords: ['Screen'] },
  });
});
