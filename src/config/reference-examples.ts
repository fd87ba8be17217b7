/**
 * The examples of docs/reference/configuration.md, one for each section, showing every key of it. Tests
 * load them all, as YAML and as TOML, and check that no key is without one.
 */

/** The example on top of the page. */
export const PAGE_EXAMPLE = `agent: claude
team: pair
tasks: ralph/tasks.json
gates:
  - { name: test, run: "npm test", min_tests: 1 }
  - { name: lint, run: "npm run lint", timeout_s: 120, required: false }
protect: ["test/golden/**"]
limits: { max_iterations: 40, max_stuck: 3, max_time: 2h, max_cost_usd: 20 }
agents:
  mine: { command: ["bash", "agent.sh"] }
`;

/** The same as TOML. */
export const PAGE_EXAMPLE_TOML = `agent = "claude"
team = "pair"
tasks = "ralph/tasks.json"
protect = ["test/golden/**"]
limits = { max_iterations = 40, max_stuck = 3, max_time = "2h", max_cost_usd = 20 }

[[gates]]
name = "test"
run = "npm test"
min_tests = 1

[[gates]]
name = "lint"
run = "npm run lint"
timeout_s = 120
required = false

[agents.mine]
command = ["bash", "agent.sh"]
`;

/** By section; the keys at the top stand under the empty name. */
export const EXAMPLES: Record<string, string> = {
  '': `agent: mine                # one of agents below, or a built-in one
model: small-model
team: pair
tasks: docs/plan.md
mode: quality
completion_word: ALL_DONE
protect: ["test/golden/**", "schema.sql"]
commit: engine
fallback: [mine]
default_role: builder
required_topics: [build.done]
sandbox: { command: ["firejail", "--quiet"] }
land: { command: "./scripts/land.sh" }
track_sessions: true
agents: { mine: { command: ["bash", "agent.sh"] } }
roles: { builder: { publishes: [build.done] } }
`,
  gates: `gates:
  - name: test
    run: npm test
    timeout_s: 900
    required: true
    min_tests: 1
    baseline: must_pass
`,
  limits: `limits:
  max_iterations: 40
  max_stuck: 5
  max_task_attempts: 4
  on_exhausted: fail
  review_cap: 3
  max_cycles: 2
  max_time: 8h
  max_cost_usd: 20
  max_cost_usd_per_task: 2.5
  max_cost_usd_per_day: 40
  max_tokens: 5000000
  idle_timeout: 300
  pause_grace: 30
  task_wip_minutes: 60
  cooldown_delay_seconds: 10
  retry_delays_s: [0, 60, 300]
  max_subagent_retries: 3
  max_carry_iterations: 1
`,
  parallel: `parallel:
  max_parallel_executors: 2
  max_parallel_reviewers: 2
  max_parallel_questioners: 1
  worktrees: false
`,
  interventions: `interventions:
  enabled: false
  threshold_no_files: 2
  threshold_false_completion: 3
  feedback_rotation_days: 14
  aggressive_mode: true
  live: true
`,
  adaptive_timeout: `adaptive_timeout:
  enabled: false
  complexity_scaling: false
  failure_scaling: false
  max_timeout: 7200
  min_timeout: 120
  timeout_multiplier_per_failure: 2
  learn: true
  complexity:
    simple: { multiplier: 0.5, keywords: [rename, typo] }
    medium: { multiplier: 1.2, keywords: [test] }
    complex: { multiplier: 2.5, keywords: [parser, protocol] }
    ui_heavy: { multiplier: 4, keywords: [Screen] }
`,
  modes: `modes: { speed: 180, balanced: 1200, quality: 3600 }
`,
  unblock: `unblock: { auto_suggest: false, auto: true, max_auto_unblock_attempts: 2 }
`,
  questions: `questions: { hold: task, on_timeout: default, approval_timeout_seconds: 3600 }
`,
  agents: `agents:
  mine:
    command: ["bash", "agent.sh", "--careful"]
    prompt: file
    output: text
`,
  teams: `team: careful
teams:
  careful: { modes: [implement, TASK_REVIEW] }
`,
  roles: `roles:
  builder:
    name: Builder
    triggers: [build.task]
    publishes: [build.done]
    default_publishes: build.done
    instructions: Build one thing at a time.
    agent: mine
    model: small-model
    fallback: [mine]
    max_activations: 20
  planner: { phase: PLANNING }
agents: { mine: { command: ["bash", "agent.sh"] } }
`,
  hats: `hats:
  builder: { triggers: [build.task], publishes: [build.done] }
`,
  RObot: `RObot:
  enabled: true
  timeout_seconds: 300
  on_timeout: re_ask
  telegram:
    bot_token: "12345:token"   # better: RALPH_TELEGRAM_BOT_TOKEN
    api_url: https://telegram.example.org
    allowed_users: [123456]
`,
  channels: `channels:
  webhook:
    url: https://chat.example.org/hook
    secret: shared-key             # better: RALPH_CONFIG_CHANNELS__WEBHOOK__SECRET
    answers: true
    listen: 127.0.0.1:8787
    answer_url: https://ralph.example.org/answer
  desktop: true
`,
  permissions: `permissions:
  default: ask
  rules:
    - { match: "git push*", policy: deny }
`,
  host: `host: { min_free_disk_mb: 2000, min_free_memory_mb: 1000, keep_awake: true }
`,
  merge: `agents: { mine: { command: ["bash", "agent.sh"] } }
merge: { resolve: mine }
`,
  worktree: `worktree: { copy: [".env"], run: ["npm ci"] }
`,
  memories: `memories: { enabled: false, budget_tokens: 1000 }
`,
  skills: `skills: { dirs: ["skills", ".agents/skills"] }
`,
};
