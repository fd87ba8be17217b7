/** `ralph tools …`: small commands for agents. Each is a row; what an agent says goes through its outbox. */
import { type Attempt, attemptFrom } from './attempt.ts';
import { confirmation, send } from './emit.ts';
import { addMemory, findMemories, memoriesFile } from './memory.ts';
import { MAX_PAYLOAD_BYTES, voiceFrom } from './outbox.ts';
import { type Complaint, complain, OK, type Told, tell, USAGE } from './say.ts';
import { signals } from './signals.ts';
import { listSkills, loadSkill } from './skill.ts';
import { addTask, listTasks, showTask } from './task.ts';

/** What was called: words after the tool's name, and the texts of its options. */
interface Call {
  verb: string;
  text: string;
  option(name: string): string;
}

type Tool = (call: Call) => Promise<Told | Complaint> | Told | Complaint;

const TOOLS: Record<string, Tool> = { interact, signals: signalsTool, memory, task, skill };

/** Options that take a value. */
const VALUED = ['--tags', '--description'];

/** Runs `tools NAME …`; answers the exit code, 0 or 5. */
export async function tools([name = '', ...args]: string[]): Promise<number> {
  if (name === '--help' || name === '-h' || args.includes('--help')) {
    process.stdout.write(`${USAGE}\n`);
    return OK;
  }
  const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  if (tool === undefined) {
    return complain({
      what: name === '' ? 'No tool was named.' : `"${name}" is not a tool.`,
      why: `There is: ${Object.keys(TOOLS).join(', ')}.`,
      fix: USAGE,
    });
  }
  const { words, options, json } = readWords(args);
  const [verb = '', ...rest] = words;
  const option = (wanted: string) => options.get(wanted) ?? '';
  return tell(await tool({ verb, text: rest.join(' ').trim(), option }), json);
}

function readWords(args: string[]): { words: string[]; options: Map<string, string>; json: boolean } {
  const words: string[] = [];
  const options = new Map<string, string>();
  let json = false;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    const [name = '', inline] = arg.split(/=(.*)/s);
    if (arg === '--') return { words: [...words, ...args.slice(at + 1)], options, json };
    if (arg === '--json') json = true;
    else if (VALUED.includes(name)) options.set(name, inline ?? args[++at] ?? '');
    else words.push(arg);
  }
  return { words, options, json };
}

function inAttempt(act: (attempt: Attempt) => Promise<Told | Complaint> | Told | Complaint) {
  const attempt = attemptFrom(process.env);
  return 'what' in attempt ? attempt : act(attempt);
}

function unknownVerb(tool: string, verb: string, known: string): Complaint {
  return {
    what: verb === '' ? `${tool} needs a verb.` : `"${tool} ${verb}" is not known.`,
    why: `There is: ${known}.`,
    fix: USAGE,
  };
}

/** `interact progress TEXT` tells a person something and goes on. */
function interact({ verb, text }: Call): Told | Complaint | Promise<Told | Complaint> {
  const fix = 'ralph tools interact progress "All tests pass; starting the integration phase"';
  if (verb !== 'progress') {
    return {
      what: verb === '' ? 'interact needs a verb.' : `"interact ${verb}" is not known.`,
      why: 'It can tell progress. A question is asked with `ralph emit human.interact "…"`.',
      fix,
    };
  }
  const voice = voiceFrom(process.env);
  return 'what' in voice ? voice : tellProgress({ voice }, text);
}

/** Tells a person, without waiting. */
export function tellProgress({ voice }: Pick<Attempt, 'voice'>, text: string): Told | Complaint {
  const fix = 'ralph tools interact progress "All tests pass; starting the integration phase"';
  if (text === '') return { what: 'There is nothing to tell.', why: 'The text is empty.', fix };
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes > MAX_PAYLOAD_BYTES) {
    return {
      what: 'The text is too long, and nothing was told.',
      why: `It has ${bytes} bytes; at most ${MAX_PAYLOAD_BYTES} are carried.`,
      fix: 'Tell the outcome in a sentence or two.',
    };
  }
  const topic = 'interact.progress';
  const failed = send(voice, { topic, payload: text });
  return failed ?? { text: confirmation(topic), data: { ok: true, topic } };
}

function signalsTool(): Told | Complaint | Promise<Told | Complaint> {
  return inAttempt(signals);
}

/** Works outside of attempts too: a person keeps the same notes. */
function memory({ verb, text, option }: Call): Told | Complaint | Promise<Told | Complaint> {
  const file = memoriesFile(process.env, process.cwd());
  switch (verb) {
    case 'add':
      return addMemory(file, { text, tags: option('--tags').split(',') });
    case 'search':
      return findMemories(file, text);
    case 'list':
      return findMemories(file, null);
    default:
      return unknownVerb('memory', verb, 'add TEXT, search WORDS, list');
  }
}

function task({ verb, text, option }: Call): Told | Complaint | Promise<Told | Complaint> {
  switch (verb) {
    case 'list':
      return inAttempt(({ sessionDir }) => listTasks(sessionDir));
    case 'show':
      return inAttempt(({ sessionDir }) => showTask(sessionDir, text));
    case 'add':
      return inAttempt((attempt) => addTask(attempt, { title: text, description: option('--description') }));
    default:
      return unknownVerb('task', verb, 'list, show ID, add TITLE; the loop and people mark tasks');
  }
}

function skill({ verb, text }: Call): Told | Complaint | Promise<Told | Complaint> {
  switch (verb) {
    case 'list':
      return inAttempt(listSkills);
    case 'load':
      return inAttempt((attempt) => loadSkill(attempt, text));
    default:
      return unknownVerb('skill', verb, 'list, load NAME');
  }
}
