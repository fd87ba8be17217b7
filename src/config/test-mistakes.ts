/** Mistakes that people make in a configuration, each with the files, variables or flags that hold it. */
import { problemText } from '../core/index.ts';
import { Problem, type ProblemFacts } from '../core/problem.ts';
import { Problems } from './problems.ts';
import { type Given, loadGiven } from './test-loading.ts';

export interface Mistake {
  /** What somebody did, as the end of "somebody …". */
  did: string;
  given: Given;
}

/** By where they are made. */
export const MISTAKES: Record<string, Mistake[]> = {
  'Keys and values of ralph.yml': [
    { did: 'mistypes a key', given: { yml: 'limits:\n  max_stuk: 5\n' } },
    { did: 'writes a key at the wrong place', given: { yml: 'max_stuck: 5\n' } },
    { did: 'writes a key that there is not', given: { yml: 'colour: blue\n' } },
    { did: 'mistypes a word of a choice', given: { yml: 'mode: balancd\n' } },
    { did: 'writes yes for true', given: { yml: 'track_sessions: yes\n' } },
    { did: 'writes a number as words', given: { yml: 'limits:\n  max_iterations: forty\n' } },
    { did: 'sets a limit below its bound', given: { yml: 'limits:\n  max_iterations: 0\n' } },
    { did: 'writes a time without a unit that there is', given: { yml: 'limits:\n  max_time: 2 hours\n' } },
    { did: 'gives a run no time', given: { yml: 'limits:\n  max_time: 0s\n' } },
    {
      did: 'crosses two bounds',
      given: { yml: 'adaptive_timeout:\n  min_timeout: 600\n  max_timeout: 300\n' },
    },
    { did: 'writes a list as one text', given: { yml: 'protect: test/golden\n' } },
    { did: 'protects what lies outside the project', given: { yml: 'protect: ["../shared/**"]\n' } },
    { did: 'writes an exception into protect', given: { yml: 'protect: ["test/**", "!test/new/**"]\n' } },
    { did: 'writes a gate as a text', given: { yml: 'gates:\n  - npm test\n' } },
    { did: 'forgets the command of a gate', given: { yml: 'gates:\n  - name: test\n' } },
    {
      did: 'gives two gates one name',
      given: { yml: 'gates:\n  - { name: test, run: npm test }\n  - { name: test, run: npm run e2e }\n' },
    },
    { did: 'leaves a text empty', given: { yml: 'agent: ""\n' } },
    { did: 'mistypes an agent', given: { yml: 'agent: cluade\n' } },
    {
      did: 'writes the command of an agent as one text',
      given: { yml: 'agents:\n  mine: { command: "bash agent.sh" }\n' },
    },
    {
      did: 'names an output that no agent speaks',
      given: {
        yml: 'agents:\n  mine: { command: [x], output: cluade-json }\n',
        agentOutputs: ['text', 'claude-json'],
      },
    },
    { did: 'gives an agent a reserved name', given: { yml: 'agents:\n  auto: { command: [x] }\n' } },
    { did: 'hires a team that there is not', given: { yml: 'team: trio\n' } },
    { did: 'redefines a built-in team', given: { yml: 'teams:\n  pair: { modes: [implement] }\n' } },
    { did: 'mistypes a mode of a team', given: { yml: 'teams:\n  mine: { modes: [implemnt] }\n' } },
    {
      did: 'wakes a role by a phase and by topics',
      given: { yml: 'roles:\n  a: { phase: PLANNING, triggers: [x.go] }\n' },
    },
    {
      did: 'wakes two roles by one topic',
      given: { yml: 'roles:\n  a: { triggers: [x.go] }\n  b: { triggers: [x.go] }\n' },
    },
    {
      did: 'lets two patterns hear one topic',
      given: {
        yml: 'roles:\n  a: { triggers: ["build.*"], publishes: [build.done] }\n  b: { triggers: ["*.done"] }\n',
      },
    },
    {
      did: 'mistypes the topic that should wake a role',
      given: { yml: 'roles:\n  a: { publishes: [build.done] }\n  b: { triggers: [build.dnoe] }\n' },
    },
    {
      did: 'lets two roles call each other for ever',
      given: {
        yml: 'roles:\n  a: { publishes: [b.go, end], default_publishes: b.go }\n  b: { triggers: [b.go], publishes: [c.go], default_publishes: c.go }\n  c: { triggers: [c.go], publishes: [b.go], default_publishes: b.go }\nrequired_topics: [end]\n',
      },
    },
    {
      did: 'gives ready tasks to a role that there is not',
      given: { yml: 'roles:\n  builder: {}\ndefault_role: bulder\n' },
    },
    {
      did: 'makes a built-in role the default',
      given: { yml: 'roles:\n  executor: { agent: claude }\ndefault_role: executor\n' },
    },
    { did: 'uses both names of one key', given: { yml: 'roles: { a: {} }\nhats: { b: {} }\n' } },
    {
      did: 'lets a role publish what it may not',
      given: { yml: 'roles:\n  a: { publishes: [build.done], default_publishes: build.dnoe }\n' },
    },
    {
      did: 'switches Telegram on and gives no token and no time',
      given: { yml: 'RObot:\n  enabled: true\n' },
    },
    {
      did: 'writes an address without https',
      given: { yml: 'channels:\n  webhook: { url: chat.example.org }\n' },
    },
    {
      did: 'takes answers through a webhook and gives no secret',
      given: {
        yml: 'channels:\n  webhook: { url: "https://chat.example.org/hook", answers: true }\n',
      },
    },
    {
      did: 'opens the address for answers to everybody',
      given: {
        yml: 'channels:\n  webhook: { url: "https://chat.example.org/hook", listen: "0.0.0.0:80" }\n',
      },
    },
    {
      did: 'writes a number where a secret belongs',
      given: { yml: 'channels:\n  webhook: { url: "https://chat.example.org", secret: 12345 }\n' },
    },
    { did: 'names a role like a path', given: { yml: 'roles:\n  a/b: {}\n' } },
    {
      did: 'makes three mistakes at once',
      given: { yml: 'agnt: claude\nmode: fast\nlimits:\n  review_cap: 0\n' },
    },
  ],
  'YAML as text': [
    { did: 'indents with a tab', given: { yml: 'limits:\n\tmax_stuck: 5\n' } },
    { did: 'writes a key twice', given: { yml: 'mode: speed\nagent: claude\nmode: quality\n' } },
    { did: 'forgets a closing quote', given: { yml: 'mode: speed\nagent: "claude\n' } },
    { did: 'forgets a closing bracket', given: { yml: 'protect: [a, b\nmode: speed\n' } },
    { did: 'forgets the space after a colon', given: { yml: 'mode:speed\n' } },
    { did: 'writes a list instead of keys', given: { yml: '- agent: claude\n' } },
    { did: 'pastes a second document', given: { yml: 'mode: speed\n---\nmode: quality\n' } },
    { did: 'follows an anchor that is not there', given: { yml: 'mode: speed\nagent: *mine\n' } },
    { did: 'nests without an end', given: { yml: `agent: ${'['.repeat(100)}\n` } },
  ],
  'ralph.toml': [
    { did: 'mistypes a key of a table', given: { toml: '[limits]\nmax_stuk = 5\n' } },
    { did: 'mistypes a dotted key', given: { toml: 'mode = "speed"\nlimits.max_stuk = 5\n' } },
    {
      did: 'mistypes a key of an inline table',
      given: { toml: 'limits = {\n  max_stuck = 5,\n  reveiw_cap = 3,\n}\n' },
    },
    {
      did: 'forgets the command of the second gate',
      given: { toml: '[[gates]]\nname = "test"\nrun = "npm test"\n\n[[gates]]\nname = "lint"\n' },
    },
    { did: 'forgets the quotes of a text', given: { toml: 'agent = claude\n' } },
    { did: 'writes a colon', given: { toml: 'agent: "claude"\n' } },
    { did: 'writes null', given: { toml: 'model = null\n' } },
    { did: 'writes a key twice', given: { toml: 'mode = "speed"\nmode = "quality"\n' } },
    { did: 'opens a table twice', given: { toml: '[limits]\nmax_stuck = 5\n\n[limits]\nreview_cap = 3\n' } },
    { did: 'writes a date', given: { toml: 'completion_word = 2026-01-01\n' } },
    {
      did: 'writes a number that is too large',
      given: { toml: '[limits]\nmax_tokens = 99999999999999999999\n' },
    },
    { did: 'forgets a closing quote', given: { toml: 'mode = "speed"\nagent = "claude\n' } },
  ],
  'Files that are not read': [
    { did: 'keeps both files', given: { yml: 'mode: speed\n', toml: 'mode = "speed"\n' } },
    { did: 'calls the file ralph.yaml', given: { files: { '/project/ralph.yaml': 'mode: speed\n' } } },
    { did: 'puts ralph.toml beside the code', given: { files: { '/project/ralph.toml': '' } } },
    { did: 'keeps two files of their own', given: { userYml: '', userToml: '' } },
    { did: 'mistypes a key in the own file', given: { userYml: 'limits:\n  max_stuk: 5\n' } },
  ],
  'Environment and flags': [
    { did: 'mistypes a variable', given: { env: { RALPH_CONFIG_LIMITS__MAX_STUK: '5' } } },
    { did: 'forgets one of two underscores', given: { env: { RALPH_CONFIG_LIMITS_MAX_STUCK: '5' } } },
    { did: 'gives a variable a wrong value', given: { env: { RALPH_CONFIG_MODE: 'fast' } } },
    { did: 'gives a flag no number', given: { flags: { maxIterations: 'many' } } },
    { did: 'gives a flag half an agent', given: { flags: { parallel: '1.5' } } },
    { did: 'gives a flag an agent that there is not', given: { flags: { agent: 'cluade' } } },
    { did: 'says --wait and --no-wait', given: { flags: { wait: true, noWait: true } } },
    { did: 'gives --task an unset shell variable', given: { flags: { task: '' } } },
  ],
  'Instructions of a session: a warning, the run goes on': [
    { did: 'writes nonsense', given: { instructions: '---\nmax_cycles: many\n---\nBe careful.\n' } },
    { did: 'mistypes a guardrail', given: { instructions: '---\nmax_cycels: 2\n---\n' } },
    { did: 'sets what only the project may set', given: { instructions: '---\ngates: []\n---\n' } },
    { did: 'breaks the front matter', given: { instructions: '---\nmax_cycles: [2\n---\n' } },
  ],
  'Odd, but it works: a warning': [
    { did: 'asks for less than one at a time', given: { yml: 'parallel:\n  max_parallel_executors: 0\n' } },
    { did: 'replaces a built-in agent', given: { yml: 'agents:\n  claude: { command: [./my-claude] }\n' } },
    {
      did: 'requires a topic that nobody publishes',
      given: { yml: 'roles:\n  a: { publishes: [b.done] }\nrequired_topics: [c.done]\n' },
    },
    {
      did: 'publishes a topic that nobody hears',
      given: { yml: 'roles:\n  a: { publishes: [a.done] }\n' },
    },
    {
      did: 'listens for a topic that nobody publishes',
      given: {
        yml: 'roles:\n  a: { publishes: [b.go], triggers: [a.go] }\n  b: { triggers: [b.go], publishes: [b.go] }\n',
      },
    },
  ],
  'Not carried out yet: a run refuses it': [
    { did: 'has running agents corrected', given: { yml: 'interventions:\n  live: true\n' } },
    {
      did: 'hires a role of their own for a phase',
      given: { yml: 'roles:\n  scout: { phase: PLANNING }\n' },
    },
    { did: 'calls the executor by its older name', given: { yml: 'roles:\n  builder: { model: small }\n' } },
    {
      did: 'tells a built-in role what to do',
      given: { yml: 'roles:\n  reviewer: { instructions: Be kind. }\n' },
    },
    { did: 'relies on live corrections', given: { toml: '[interventions]\nlive = true\n' } },
    { did: 'shares its own live corrections', given: { userYml: 'interventions: { live: true }\n' } },
    {
      did: 'switches something on by a variable',
      given: { env: { RALPH_CONFIG_INTERVENTIONS__LIVE: 'true' } },
    },
  ],
};

/** Everything that is said about a mistake: problems in three lines each, warnings as they are. */
export async function saidAbout({ given }: Mistake): Promise<string> {
  const loaded = await loadGiven(given).catch((error: unknown) => {
    if (error instanceof Problem) return error;
    throw error;
  });
  if (!(loaded instanceof Problem)) return [...loaded.notYet.map(problemText), ...loaded.warnings].join('\n');
  const all: ProblemFacts[] = loaded instanceof Problems ? loaded.all : [loaded.facts];
  return all.map(problemText).join('\n');
}
