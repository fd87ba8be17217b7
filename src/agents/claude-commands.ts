/**
 * The commands of a Claude Code run, and how each ended. Only its shell tells exit codes: what another tool, a
 * server's or a sub-agent's, may have run is noted as unseen, unless the calls of that sub-agent stand in the stream.
 */
import type { RunCommand } from '../core/index.ts';
import { type Json, object, text } from './json.ts';
import { LISTED } from './stream.ts';

/** A tool call. `by`: the call whose sub-agent makes it; empty for the main conversation. */
export interface ToolCall {
  id: string;
  name: string;
  input: Json;
  by: string;
}

/** What came back of a tool call. `outcome`: its structured form, empty where there is none. */
export interface ToolAnswer {
  words: string;
  outcome: Json;
  failed: boolean;
  refused: boolean;
}

/** Notes calls and answers in the list it was made with. Bounded; never throws. */
export interface CommandLog {
  called(call: ToolCall): void;
  answered(id: string, answer: ToolAnswer): void;
  denied(id: string): void;
  /** A command in the background ended: what is said of it. */
  ended(id: string, summary: string): void;
  /** A command that was refused, told at the end of the run. */
  refused(command: string): void;
  /** Whether a row still counts: a tool that was refused ran nothing. */
  counts(row: RunCommand): boolean;
}

/** Tools that run no command of their own. */
const QUIET = new Set(
  `Read Write Edit MultiEdit NotebookEdit NotebookRead Glob Grep LS WebFetch WebSearch TodoWrite TodoRead ToolSearch
  ListAgents ExitPlanMode EnterPlanMode AskUserQuestion BashOutput TaskOutput AgentOutputTool KillShell KillBash TaskStop
  TaskCreate TaskUpdate TaskList TaskGet EnterWorktree ExitWorktree ReportFindings ListMcpResources ListMcpResourcesTool
  ReadMcpResource ReadMcpResourceTool StructuredOutput LSP`.split(/\s+/),
);
/** Tools that tell how a command in the background goes on. */
const LOOKS = new Set(['BashOutput', 'TaskOutput', 'AgentOutputTool', 'KillShell', 'KillBash', 'TaskStop']);
/** Longest command that is kept, in characters. */
const COMMAND_CHARS = 2_000;

/** A log that writes to `rows`, which it alone changes. */
export function commandLog(rows: RunCommand[]): CommandLog {
  /** Calls that are awaited, or run in the background, by tool call id. */
  const calls = new Map<string, RunCommand>();
  /** What runs in the background, by the name it was given. */
  const background = new Map<string, RunCommand>();
  const looks = new Map<string, string>();
  /** Rows of tools that ran nothing out of sight. */
  const idle = new WeakSet<RunCommand>();
  /** Calls that asked to go on in the background. */
  const away = new Set<string>();
  const keep = <T>(map: Map<string, T>, key: string, value: T) => {
    if (key !== '' && map.size < LISTED) map.set(key, value);
  };

  function add(id: string, row: RunCommand): void {
    const last = rows.at(-1);
    // A tool that is called a hundred times in a row says no more than once.
    const again = row.unseen === true && last?.unseen === true && last.command === row.command;
    if (!again && rows.length < LISTED) rows.push(row);
    if (!again) keep(calls, id, row);
  }

  return {
    called({ id, name, input, by }) {
      // The calls of that sub-agent can be seen.
      const above = calls.get(by);
      if (above?.unseen === true) idle.add(above);
      if (LOOKS.has(name))
        keep(looks, id, text(input.bash_id) || text(input.task_id) || text(input.shell_id));
      const command = name === 'Bash' ? text(input.command) : commandOf(input);
      const row = { command: command.slice(0, COMMAND_CHARS), exitCode: null, denied: false };
      if (name === 'Bash' && input.run_in_background === true && away.size < LISTED) away.add(id);
      if (name === 'Bash') add(id, row);
      else if (!QUIET.has(name)) add(id, { ...row, unseen: true });
    },
    answered(id, answer) {
      const looked = looks.get(id);
      if (looked !== undefined) {
        looks.delete(id);
        const row = background.get(looked);
        if (row !== undefined) row.exitCode = codeTold(answer) ?? row.exitCode;
        return;
      }
      const row = calls.get(id);
      if (row === undefined) return;
      if (row.unseen === true) {
        if (answer.refused) idle.add(row);
        return;
      }
      if (answer.refused) row.denied = true;
      const name = backgroundName(answer) ?? (away.has(id) && !answer.failed ? '' : null);
      // Its end is told later, if at all.
      if (name !== null) return keep(background, name, row);
      calls.delete(id);
      row.exitCode = exitOf(answer, row.denied);
    },
    denied(id) {
      const row = calls.get(id);
      if (row?.unseen === true) idle.add(row);
      else if (row !== undefined) row.denied = true;
    },
    ended(id, summary) {
      const row = calls.get(id);
      const code = /\bexit(?:ed)? (?:with )?(?:code )?(\d{1,3})\)?\W*$/.exec(summary.slice(-60))?.[1];
      if (row !== undefined && row.unseen !== true && code !== undefined) row.exitCode = Number(code);
    },
    refused(whole) {
      const command = whole.slice(0, COMMAND_CHARS);
      if (command === '') return;
      const known = rows.filter((row) => row.command === command && row.unseen !== true);
      if (known.some((row) => row.denied)) return;
      const row = known.find(({ exitCode }) => exitCode === null);
      if (row !== undefined) row.denied = true;
      else if (rows.length < LISTED) rows.push({ command, exitCode: null, denied: true });
    },
    counts: (row) => !idle.has(row),
  };
}

/** The command among the fields of a tool nobody knows; empty where none is told. */
function commandOf(input: Json): string {
  for (const field of [input.command, input.cmd, input.script, input.code, input.args]) {
    if (typeof field === 'string') return field;
    if (Array.isArray(field)) return field.filter((word) => typeof word === 'string').join(' ');
  }
  return '';
}

/** The name of a command that went on in the background; null where it ended. */
function backgroundName({ words, outcome, failed }: ToolAnswer): string | null {
  const named = text(outcome.backgroundTaskId) || text(outcome.shellId);
  if (named !== '') return named;
  const start = words.slice(0, 300);
  if (failed || !/^Command\b[^\n]*\bbackground/.test(start)) return null;
  return /\bID: ?([\w-]+)/.exec(start)?.[1] ?? '';
}

function exitOf({ words, outcome, failed }: ToolAnswer, denied: boolean): number | null {
  const code = /^(?:Error: )?Exit code (\d+)/.exec(words)?.[1];
  if (code !== undefined) {
    // The shell did not get to the command behind `cd`.
    return /\bcd: [^\n]*(?:No such file|[Nn]ot a directory|[Pp]ermission denied|can't cd)/.test(
      words.slice(0, 2_000),
    )
      ? null
      : Number(code);
  }
  if (failed || denied || outcome.interrupted === true) return null;
  // What `grep` and `diff` say with a 1 is told as no error: the code was another than 0.
  return text(outcome.returnCodeInterpretation) === '' ? 0 : null;
}

/** The exit code that a look at a command in the background tells; null while it runs. */
function codeTold({ words, outcome }: ToolAnswer): number | null {
  const exitCode = outcome.exitCode ?? object(outcome.task).exitCode;
  if (typeof exitCode === 'number') return exitCode;
  // What the command printed stands behind, and may look alike.
  const head = words.slice(0, 2_000).split(/<(?:stdout|stderr|output)>/)[0]!;
  const told = /<exit_code>\s*(\d{1,3})\s*<\/exit_code>/.exec(head)?.[1];
  return told === undefined ? null : Number(told);
}
