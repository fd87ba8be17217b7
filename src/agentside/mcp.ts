/** `ralph mcp`: the tools of the agent's side, for agents that speak MCP. The library is wrapped in mcp-server.ts. */
import { askHuman, MAX_WAIT_S, WAIT_S } from './ask.ts';
import { type Attempt, attemptFrom, notLive } from './attempt.ts';
import { checked, confirmation, send } from './emit.ts';
import { type Schema, type ServedTool, serveTools, type ToolCall } from './mcp-server.ts';
import { addMemory, findMemories, memoriesFile } from './memory.ts';
import { append } from './outbox.ts';
import { type Complaint, OK, type Told } from './say.ts';
import { signals } from './signals.ts';
import { addTask, listTasks, showTask } from './task.ts';
import { tellProgress } from './tools.ts';

/** Serves on stdio until the client is gone; answers the exit code. */
export async function serve(): Promise<number> {
  await serveTools(TOOLS.map(guarded));
  return OK;
}

interface Row {
  name: string;
  about: string;
  schema: Schema;
  /** It claims nothing and asks for nothing. */
  reads?: true;
  run(attempt: Attempt, call: ToolCall): Promise<Told | Complaint> | Told | Complaint;
}

/** Every call is the live attempt's own, or is refused. */
function guarded({ run, ...row }: Row): ServedTool {
  return {
    ...row,
    async run(call) {
      const attempt = attemptFrom(process.env);
      if ('what' in attempt) return attempt;
      const refused = notLive(attempt, `mcp.${row.name}`);
      return refused ?? run(attempt, call);
    },
  };
}

const text = (about: string) => ({ type: 'string', description: about });
const schema = (properties: Schema['properties'], ...required: string[]): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const word = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

const TOOLS: Row[] = [
  {
    name: 'ask_human',
    about:
      'Asks the person behind this work and waits for the answer. For what the code, the task and the conventions of the project do not answer. Tell nothing with report_progress in the same turn.',
    schema: schema(
      {
        text: text('The decision in one sentence.'),
        options: {
          type: 'array',
          description: 'Two or three, each with what it costs.',
          maxItems: 26,
          items: schema({ key: text('A, B, …'), text: text('The option and its cost.') }, 'key', 'text'),
        },
        default: text('What you will do when nobody answers.'),
        kind: { type: 'string', enum: ['decision', 'clarification', 'permission', 'credential'] },
        hold: {
          type: 'string',
          enum: ['session', 'task'],
          description: 'What waits if you end your turn without the answer.',
        },
        wait_seconds: {
          type: 'integer',
          minimum: 0,
          maximum: MAX_WAIT_S,
          description: `How long to wait here; ${WAIT_S} without it. Your own time does not run meanwhile.`,
        },
      },
      'text',
    ),
    run: ask,
  },
  {
    name: 'report_progress',
    about: 'Tells a person something and goes on: a phase begins or ends, a milestone. Nobody answers.',
    schema: schema({ text: text('One or two sentences.') }, 'text'),
    run: (attempt, { args }) => tellProgress(attempt, word(args.text)),
  },
  {
    name: 'emit',
    about:
      'Publishes a topic to other roles, or reports: topic ralph.result with the result object as payload.',
    schema: schema({ topic: text('E.g. build.done.'), payload: { description: 'Text or JSON.' } }, 'topic'),
    run: emitTool,
  },
  {
    name: 'check_signals',
    about:
      'What people have said to you since your prompt, and answers to your questions. Look between steps; what is shown counts as read.',
    schema: schema({}),
    run: signals,
  },
  {
    name: 'record_evidence',
    about: 'Records a proof for an acceptance criterion as part of your report. The loop checks it.',
    schema: schema(
      {
        criterion: text('Text or number of the criterion.'),
        kind: { type: 'string', enum: ['command', 'file', 'commit'] },
        value: text('The command line, the path or the commit.'),
        exit_code: { type: 'integer', description: 'Of a command.' },
      },
      'criterion',
      'kind',
      'value',
    ),
    run: recordEvidence,
  },
  {
    name: 'task_list',
    about: 'The tasks of the session with their states.',
    schema: schema({}),
    reads: true,
    run: ({ sessionDir }) => listTasks(sessionDir),
  },
  {
    name: 'task_show',
    about: 'One task with its description and acceptance criteria.',
    schema: schema({ id: text('The id of the task.') }, 'id'),
    reads: true,
    run: ({ sessionDir }, { args }) => showTask(sessionDir, word(args.id)),
  },
  {
    name: 'task_add',
    about: 'Tells a person of work that no task names. It changes no list.',
    schema: schema({ title: text('One line.'), description: text('Where it was seen.') }, 'title'),
    run: (attempt, { args }) =>
      addTask(attempt, { title: word(args.title), description: word(args.description) }),
  },
  {
    name: 'memory_add',
    about: 'Keeps what later calls should know beyond this task: a command, a convention, a trap.',
    schema: schema({ text: text('One fact.'), tags: { type: 'array', items: { type: 'string' } } }, 'text'),
    run: (_attempt, { args }) =>
      addMemory(memories(), {
        text: word(args.text),
        tags: Array.isArray(args.tags) ? args.tags.map(word) : [],
      }),
  },
  {
    name: 'memory_search',
    about: 'Memories that share words with the query; the newest ones without a query.',
    schema: schema({ query: text('Words.') }),
    reads: true,
    run: (_attempt, { args }) => findMemories(memories(), word(args.query) || null),
  },
];

const memories = () => memoriesFile(process.env, process.cwd());

function ask(attempt: Attempt, { args, signal, progress }: ToolCall): Promise<Told | Complaint> {
  const options = Array.isArray(args.options) ? (args.options as { key: string; text: string }[]) : [];
  const seconds = typeof args.wait_seconds === 'number' ? Math.round(args.wait_seconds) : WAIT_S;
  const asked = {
    text: word(args.text),
    options,
    default: word(args.default) || null,
    kind: word(args.kind) || null,
    hold: word(args.hold) || null,
    waitSeconds: Math.min(MAX_WAIT_S, Math.max(0, seconds)),
  };
  return askHuman(attempt, asked, { signal, stillWaiting: progress });
}

function emitTool({ voice }: Attempt, { args }: ToolCall): Told | Complaint {
  const { payload = '' } = args;
  const json = typeof payload !== 'string';
  const topic = word(args.topic);
  const given = { topic, text: json ? JSON.stringify(payload) : payload, payloadJson: json, json: false };
  const emission = checked(given);
  if ('what' in emission) return emission;
  return send(voice, emission) ?? { text: confirmation(topic), data: { ok: true, topic } };
}

function recordEvidence({ voice }: Attempt, { args }: ToolCall): Told | Complaint {
  const value = word(args.value);
  if (value === '') {
    return {
      what: 'Nothing was recorded.',
      why: 'The value is empty.',
      fix: 'Give the command, path or commit.',
    };
  }
  const { criterion, kind, exit_code } = args;
  const failed = append(voice, 'ralph.evidence', { criterion, kind, value, exit_code });
  return failed ?? { text: 'Recorded. It stands in your report.', data: { ok: true } };
}
