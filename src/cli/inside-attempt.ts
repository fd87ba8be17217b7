/**
 * Who may call what. Inside an attempt an agent may look at everything and report with `ralph emit`; what
 * changes the session, the list or the project, speaks for a person, or starts agents outside of the run's
 * limits is a person's. One row for each command, and no second place that decides.
 */
import { appendFileSync } from 'node:fs';
import { Problem } from '../core/index.ts';
import { ancestorCarries } from '../process/index.ts';

/** `look`: an agent may call it. `person`: it may not. */
type Right = 'look' | 'person';

/** How a command was called: the words after its name, and its options by their long names. */
export interface Call {
  words: readonly unknown[];
  options: Readonly<Record<string, unknown>>;
}

const unlessDry = ({ options }: Call): Right => (options.dryRun === true ? 'look' : 'person');

/** Every command of `ralph --help`. `emit` and `tools` are the agents' own, and not in the command tree. */
export const RIGHTS: Readonly<Record<string, Right | ((call: Call) => Right)>> = {
  // A run spends money and commits; starting it again is a person's word to try again.
  run: unlessDry,
  resume: unlessDry,
  tasks: ({ words }) => (words[0] === 'list' ? 'look' : 'person'),
  pause: 'person',
  stop: 'person',
  abort: 'person',
  answer: 'person',
  tell: 'person',
  signal: 'person',
  approve: 'person',
  skip: 'person',
  // It opens another cycle, with other work in it.
  feedback: 'person',
  unblock: 'person',
  'retry-blocked': 'person',
  blocked: 'look',
  status: 'look',
  sessions: 'look',
  inbox: 'look',
  knowledge: 'look',
  why: 'look',
  events: 'look',
  // What is known against an agent is not the agent's to forget.
  interventions: ({ options }) => (options.reset === true ? 'person' : 'look'),
  profile: 'look',
  logs: 'look',
  archive: 'person',
  // It plays in a folder of its own, with a scripted agent.
  demo: 'look',
  // These two write what the loop works by: its contract, and its list of tasks.
  init: unlessDry,
  import: unlessDry,
  doctor: ({ options }) => (options.agent === false ? 'look' : 'person'),
  agents: 'look',
  config: 'look',
  hats: 'look',
  // What becomes of a loop's work is not an agent's to say.
  loops: ({ words }) => (['list', 'logs', 'attach'].includes(String(words[0])) ? 'look' : 'person'),
  // It speaks with the bot's token, and pairing lets somebody command.
  bot: 'person',
  completions: 'look',
};

/** What was tried stands in the outbox as a person's word, which the loop refuses and records. */
function tellTheLoop(command: string): void {
  const { RALPH_OUTBOX: outbox = '', RALPH_RUN_TOKEN: token = '' } = process.env;
  if (outbox === '' || token === '') return;
  const line = JSON.stringify({
    topic: `human.${command}`,
    payload: '',
    token,
    ts: new Date().toISOString(),
  });
  try {
    appendFileSync(outbox, `${line}\n`, { mode: 0o600 });
  } catch {
    // Refused it is all the same.
  }
}

/** The token is the agent's; the marker is also carried by gates and git's hooks, which may run what an agent wrote. */
const CARRIED = ['RALPH_RUN_TOKEN', 'RALPH_MARKER'];

/** Throws a Problem when an attempt calls what is a person's. A command without a row is a person's. */
export function refuseAgents(command: string, call: Call): void {
  const row = RIGHTS[command] ?? 'person';
  const right = typeof row === 'function' ? row(call) : row;
  if (right === 'look' || !CARRIED.some(ancestorCarries)) return;
  tellTheLoop(command);
  throw new Problem({
    code: 'agent.may_not_command',
    what: 'This command is for people, and it was called inside an attempt, a gate or a hook.',
    why: 'An agent can claim and ask (`ralph emit`), but neither answer its own questions, nor control the loop, nor change what it is measured by.',
    fix: 'Report with `ralph emit`; a person runs this command from a terminal of their own.',
  });
}
