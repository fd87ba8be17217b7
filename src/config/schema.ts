/**
 * The contract of ralph.yml, once: every key, its type, bounds, default and meaning. The problems a
 * person reads, the JSON Schema that editors use and docs/reference/configuration.md all come from here.
 * Rules that look at two keys at a time stand in rules.ts. Most starts read shape.json in its place, which
 * is made from it: UPDATE_DOCS=1 npx vitest run src/config
 */
import * as z from 'zod';
import { type ComplexityClass, DEFAULT_CLASSES, MODE_NAMES, PHASE_NAMES } from '../core/index.ts';
import { DURATION_FORM } from './duration.ts';

/** Names of roles, agents and teams: they become words in files, topics and environment variables. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

// The title of a form is what a person reads after "it must be".
const name = z.string().regex(NAME).meta({ title: 'a name of letters, digits, _ . and -' });
const address = z.url({ protocol: /^https?$/ }).meta({ title: 'an http or https address' });
/** Answers are taken on this machine only; a proxy or tunnel of the person's leads there. */
const LOOPBACK_FORM = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]):\d{1,5}$/;

const text = (meaning: string) => z.string().min(1).describe(meaning);
const flag = (meaning: string, preset: boolean) => z.boolean().default(preset).describe(meaning);
const count = (meaning: string, least: number, preset: number) =>
  z.int().min(least).default(preset).describe(meaning);
const seconds = (meaning: string, preset: number) => z.number().positive().default(preset).describe(meaning);
const texts = (meaning: string, preset: string[] = []) =>
  z.array(z.string().min(1)).default(preset).describe(meaning);
const named = <Value extends z.ZodType>(value: Value) => z.record(name, value);

const gate = z.strictObject({
  name: name.describe('Name of the gate in prompts, logs and verdicts; unique.'),
  run: text('Command line, run by the shell in the work tree. Exit 0 passes.'),
  timeout_s: seconds('Seconds until the gate is ended and counts as failed.', 600),
  required: flag('Whether a task can only be accepted when this gate passes.', true),
  min_tests: count('Fewest tests that must have run; 0 does not count them.', 0, 0),
  baseline: z
    .enum(['no_regression', 'must_pass'])
    .default('no_regression')
    .describe('`no_regression` accepts failures that stood before the task began, with a warning.'),
});

const complexityClass = ({ multiplier, keywords }: ComplexityClass) =>
  z
    .strictObject({
      multiplier: z.number().positive().default(multiplier).describe('Factor on the mode’s timeout.'),
      keywords: texts(
        'Whole words, in any case, plurals too. A list of your own decides, and takes the place of all Ralph knows of the class.',
        keywords,
      ),
    })
    .prefault({});

const role = z.strictObject({
  name: text('Name for people.').optional(),
  phase: z
    .enum(PHASE_NAMES)
    .describe('Phase that wakes the role; never together with `triggers`.')
    .optional(),
  triggers: texts('Topics that wake the role; `*` matches one segment.'),
  publishes: texts('Topics the role may publish.'),
  default_publishes: text('Topic published for it when it ends without one.').optional(),
  instructions: text('What the role is told, beside the task.').optional(),
  agent: text('Agent that plays the role.').optional(),
  model: text('Model for the role.').optional(),
  fallback: z
    .array(z.string().min(1))
    .describe(
      'Agents that stand in for that of this role while its provider says no, in this order; unset: the general `fallback`.',
    )
    .optional(),
  max_activations: z.int().min(1).describe('Most runs of the role in one session.').optional(),
});

const agentSpec = z.strictObject({
  command: z.array(z.string().min(1)).min(1).describe('Program and arguments; no shell in between.'),
  prompt: z
    .enum(['stdin', 'arg', 'file'])
    .default('stdin')
    .describe('How the prompt reaches it: on stdin, as the last argument, or as the path of a file.'),
  output: z
    .string()
    .regex(/^(text|acp|[a-z][a-z0-9]*-json)$/)
    .meta({ title: 'text, claude-json or acp' })
    .default('text')
    .describe(
      'What its stdout is: `text`; `claude-json`, the stream of Claude Code; `acp`, the Agent Client Protocol, over which it gets its prompt too.',
    ),
});

const limits = z.strictObject({
  max_iterations: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('Most agent runs. null: 20 (50 where brainstorm is hired) and 6 more for every open task.'),
  max_stuck: count('Waves without progress before exit 4; 0 turns it off.', 0, 3),
  max_task_attempts: count('Rejected attempts of one task before it is given up.', 1, 3),
  on_exhausted: z
    .enum(['ask', 'fail'])
    .default('ask')
    .describe('A task out of attempts becomes a question, or fails. Unset, a team that plans fails it.'),
  review_cap: count('Reviews with issues of one task before it is given up or approved at the cap.', 1, 5),
  max_cycles: count('Rounds of questions while planning; 0 skips them.', 0, 5),
  max_time: z
    .union([
      z.number().positive(),
      z.string().regex(DURATION_FORM).meta({ title: 'a duration such as 90s, 15m or 2h' }),
    ])
    .nullable()
    .default(null)
    .describe('Working time of a run, in seconds or as `90s`, `15m`, `2h`. null: no limit.'),
  max_cost_usd: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe(
      'Cost of a run in US dollars. What a subscription pays counts as well, by what it would have cost: such a sum bounds the work, and an agent may be billed for what goes beyond its plan.',
    ),
  max_cost_usd_per_task: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe('Cost of one task, counted alike.'),
  max_cost_usd_per_day: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe('Cost of a day (local time), all sessions of the project, also those that run at once.'),
  max_tokens: z.int().min(1).nullable().default(null).describe('Input and output tokens of a run.'),
  idle_timeout: seconds('Seconds without output and file change before an attempt is ended.', 600),
  pause_grace: z
    .number()
    .min(0)
    .default(60)
    .describe('Seconds an agent gets to reach a safe point on PAUSE.'),
  task_wip_minutes: z
    .number()
    .positive()
    .default(120)
    .describe('Minutes after which a foreign `[/]` is stale.'),
  cooldown_delay_seconds: z.number().min(0).default(0).describe('Seconds between two waves.'),
  retry_delays_s: z
    .array(z.number().min(0))
    .min(1)
    .default([0, 30, 60, 60])
    .describe('Seconds before the k-th retry after a crash or provider failure; the last one repeats.'),
  max_subagent_retries: count('Retries after crashes in a row before exit 6.', 0, 4),
  max_carry_iterations: count('Later cycles in which an unapproved knowledge item is offered again.', 0, 2),
});

// Numbers below 1 are raised to 1 with a warning (rules.ts), so they are no error here.
const parallel = z.strictObject({
  max_parallel_executors: z.int().default(3).describe('Executors at once; below 1 counts as 1.'),
  max_parallel_reviewers: z.int().default(3).describe('Reviewers at once; below 1 counts as 1.'),
  max_parallel_questioners: z.int().default(3).describe('Questioners at once; below 1 counts as 1.'),
  worktrees: flag('Whether executors side by side each get a git worktree.', true),
});

const interventions = z.strictObject({
  enabled: flag('Whether fruitless attempts are corrected.', true),
  threshold_no_files: count(
    'Attempts without files, of an agent’s last five, that trip its circuit breaker; 6 and more never do.',
    1,
    3,
  ),
  threshold_false_completion: count(
    'False completions, of an agent’s last five, that trip it; 6 and more never do.',
    1,
    2,
  ),
  feedback_rotation_days: count('Days until old feedback leaves the prompt.', 1, 30),
  aggressive_mode: flag('Whether correction starts with the strong wording.', false),
  live: flag('Whether agents with live input are corrected while they run.', false),
});

const adaptiveTimeout = z.strictObject({
  enabled: flag('Whether an attempt’s time depends on the task at all.', true),
  complexity_scaling: flag('Whether complex tasks get more time.', true),
  failure_scaling: flag('Whether each timeout gives the next attempt more time.', true),
  max_timeout: seconds('Most seconds of one attempt.', 3600),
  min_timeout: seconds('Fewest seconds of one attempt.', 60),
  timeout_multiplier_per_failure: z
    .number()
    .min(1)
    .default(1.5)
    .describe('Factor for each timeout of the task.'),
  learn: flag('Whether what accepted attempts of a class took takes the place of mode and factor.', false),
  complexity: z
    .strictObject({
      simple: complexityClass(DEFAULT_CLASSES.simple),
      medium: complexityClass(DEFAULT_CLASSES.medium),
      complex: complexityClass(DEFAULT_CLASSES.complex),
      ui_heavy: complexityClass(DEFAULT_CLASSES.ui_heavy),
    })
    .prefault({}),
});

const robot = z.strictObject({
  enabled: flag('Whether people are reached through Telegram.', false),
  timeout_seconds: z
    .number()
    .min(0)
    .describe('Seconds `human.interact` holds the session; 0 has no limit. Required when enabled.')
    .optional(),
  on_timeout: z
    .enum(['proceed', 'default', 're_ask', 'stop'])
    .default('proceed')
    .describe('What silence to `human.interact` means.'),
  telegram: z
    .strictObject({
      bot_token: text('Token of the bot. RALPH_TELEGRAM_BOT_TOKEN wins, and keeps it out of git.').optional(),
      api_url: address
        .default('https://api.telegram.org')
        .describe('Address of the Bot API; RALPH_TELEGRAM_API_URL wins.'),
      allowed_users: z
        .array(z.int())
        .default([])
        .describe('Telegram user ids that are heard, beside paired chats.'),
    })
    .prefault({}),
});

const channels = z.strictObject({
  webhook: z
    .strictObject({
      url: address.describe('Where questions and notices are posted.'),
      secret: text('Key that signs each post, and each answer.').optional(),
      answers: flag(
        'Whether people can answer through it, so that a run waits for them. Needs `secret`.',
        false,
      ),
      listen: z
        .string()
        .regex(LOOPBACK_FORM)
        .meta({ title: 'host:port of this machine, such as 127.0.0.1:8787' })
        .default('127.0.0.1:0')
        .describe('Where answers are taken on this machine; port 0 takes a free one.'),
      answer_url: address
        .describe('The address of answers that is told to the receiver. Unset: that on this machine.')
        .optional(),
    })
    .optional(),
  desktop: flag('Whether notices are shown on this desktop.', false),
});

/** The whole of ralph.yml. Its output is the file's shape with every default filled in. */
export const configSchema = z.strictObject({
  agent: z
    .string()
    .min(1)
    .default('auto')
    .describe('Agent that works; `auto` takes the first installed, `acp:<command>` any that speaks ACP.'),
  model: z.string().min(1).nullable().default(null).describe('Model for the agent. null: the agent’s own.'),
  team: z
    .string()
    .min(1)
    .default('auto')
    .describe(
      'Who is hired: `solo`, `pair`, `full`, one of `teams`; with roles: `feature`, `bugfix`, `review`, `docs`; `auto`: pair for a reviewed list, else solo.',
    ),
  tasks: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('Task file. null: looked for in the usual places.'),
  mode: z
    .enum(['speed', 'balanced', 'quality'])
    .default('balanced')
    .describe('Which of `modes` times an attempt.'),
  completion_word: z
    .string()
    .regex(/^[^\s<>]{1,80}$/)
    .meta({ title: 'one word without spaces, < and >' })
    .nullable()
    .default(null)
    .describe('A word that on a line of its own also claims completion.'),
  gates: z.array(gate).default([]).describe('Commands that prove the work after each attempt.'),
  protect: texts('Files no agent may change, as globs; ralph.yml and the engine’s files always are.'),
  commit: z
    .enum(['auto', 'agent', 'engine', 'none'])
    .default('auto')
    .describe(
      'Who commits. `auto`: the agent’s commits stand, the engine commits what an accepted task left.',
    ),
  limits: limits.prefault({}).describe('How far a run may go.'),
  parallel: parallel.prefault({}).describe('Side by side work of a team that plans; others work one by one.'),
  interventions: interventions.prefault({}).describe('Correction of fruitless attempts.'),
  adaptive_timeout: adaptiveTimeout.prefault({}).describe('How long one attempt may take.'),
  modes: z
    .strictObject({
      speed: seconds('Seconds of a simple attempt in mode `speed`.', 120),
      balanced: seconds('Seconds of a simple attempt in mode `balanced`.', 900),
      quality: seconds('Seconds of a simple attempt in mode `quality`.', 1800),
    })
    .prefault({}),
  unblock: z
    .strictObject({
      auto_suggest: flag('Whether the end summary suggests how to unblock tasks.', true),
      auto: flag('Whether blocked tasks are tried again without a person.', false),
      max_auto_unblock_attempts: count('Most such retries of one task.', 0, 1),
    })
    .prefault({}),
  questions: z
    .strictObject({
      hold: z
        .enum(['session', 'task'])
        .default('session')
        .describe('What a DECIDE or BLOCKED claim holds up.'),
      on_timeout: z
        .enum(['proceed', 'default', 'carry', 're_ask', 'stop'])
        .default('proceed')
        .describe('What silence to a question with a deadline means; `carry` is for approvals.'),
      approval_timeout_seconds: z
        .number()
        .positive()
        .nullable()
        .default(null)
        .describe('Seconds until an unanswered approval is carried to the next cycle. null: never.'),
    })
    .prefault({}),
  agents: named(agentSpec).default({}).describe('Your own agents by name, beside the built-in ones.'),
  fallback: texts(
    'Agents that stand in while the provider of `agent` says no, and take a task over when one keeps failing at it, in this order.',
  ),
  teams: named(
    z.strictObject({ modes: z.array(z.enum(MODE_NAMES)).min(1).describe('The modes this team hires.') }),
  )
    .default({})
    .describe('Your own teams by name.'),
  roles: named(role).default({}).describe('Hats, and overrides of the built-in roles, by name.'),
  hats: named(role).optional().describe('Another name for `roles`; use one of the two.'),
  default_role: text(
    'Role that gets ready tasks. Unset: the first own role without triggers, else the first.',
  ).optional(),
  required_topics: texts('Topics that must have been published before the list can be done.'),
  RObot: robot.prefault({}).describe('Talking to people through Telegram.'),
  channels: channels.prefault({}).describe('Other ways to reach people.'),
  permissions: z
    .strictObject({
      default: z.enum(['allow', 'ask', 'deny']).default('allow').describe('For what no rule matches.'),
      rules: z
        .array(
          z.strictObject({
            match: text('Command pattern, `*` for anything.'),
            policy: z.enum(['allow', 'ask', 'deny']).describe('What happens when it matches.'),
          }),
        )
        .default([])
        .describe('First match wins.'),
    })
    .prefault({}),
  sandbox: z
    .union([
      z.enum(['none', 'bwrap']),
      z.strictObject({
        command: z.array(z.string().min(1)).min(1).describe('Wrapper put before the agent.'),
      }),
      z.strictObject({
        bwrap: z
          .strictObject({
            network: z.boolean().default(true).describe('False: no network at all, not even this machine.'),
            env: z
              .array(z.string().min(1))
              .optional()
              .describe('The only variables it gets beside RALPH_*, PATH, HOME and the like; left out: all.'),
            write: z
              .array(z.string().min(1))
              .default([])
              .describe('More folders it may write: absolute, or with ~ in front.'),
          })
          .describe('bwrap, in detail.'),
      }),
    ])
    .default('none')
    .describe('What agents are shut into.'),
  host: z
    .strictObject({
      min_free_disk_mb: count('MB that have to be free on the disk before an agent starts; 0: any.', 0, 500),
      min_free_memory_mb: count(
        'MB of memory that have to be available before an agent starts; 0: any.',
        0,
        300,
      ),
      keep_awake: flag(
        'Whether the machine is kept from falling asleep while a run is at work; Linux with systemd, and macOS.',
        false,
      ),
    })
    .prefault({})
    .describe('What the machine must have left, and whether it may sleep.'),
  worktree: z
    .strictObject({
      copy: texts('Untracked files copied into a new worktree.'),
      run: texts('Commands run once in a new worktree.'),
    })
    .prefault({}),
  land: z
    .union([z.enum(['merge', 'branch']), z.strictObject({ command: text('Command that lands the branch.') })])
    .default('merge')
    .describe('How a worktree loop’s work reaches the main branch.'),
  merge: z
    .strictObject({
      resolve: z
        .string()
        .min(1)
        .nullable()
        .default(null)
        .describe(
          'Agent that is hired once where a loop and the main branch changed the same lines; the gates judge what it made of them. null: nobody, a person settles it.',
        ),
    })
    .prefault({}),
  memories: z
    .strictObject({
      enabled: flag('Whether memories stand in the prompt.', true),
      budget_tokens: count('Most tokens of memories in a prompt.', 0, 2000),
    })
    .prefault({}),
  skills: z
    .strictObject({
      dirs: texts('Folders with skills; missing ones are skipped.', ['skills', '~/.copilot/skills']),
    })
    .prefault({}),
  track_sessions: flag('Whether git sees the session folders.', false),
});

/** ralph.yml with every default filled in, in the file's own spelling. */
export type Config = z.output<typeof configSchema>;

/** The schema as JSON Schema: what a person may write, before defaults. Asked for once, to write shape.json. */
export function emittedShape(): Record<string, unknown> {
  const { $schema: _, ...shape } = z.toJSONSchema(configSchema, { io: 'input' });
  return shape;
}
