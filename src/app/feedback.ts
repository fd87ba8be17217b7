/**
 * A person's feedback on a session, as the batch that opens its next cycle. Without words the empty form
 * is put there, to be filled in; nobody reads it until it is.
 */
import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, extname, join, relative, resolve } from 'node:path';
import { commandFor, Problem, type State } from '../core/index.ts';
import { readFeedback, writeFeedback } from '../dialects/index.ts';
import {
  attachmentNames,
  batchesFor,
  FEEDBACK_BYTES,
  oddBatches,
  signingKey,
  writeBatch,
} from '../store/index.ts';
import { openToChange } from './windows.ts';

export interface FeedbackRequest {
  cwd: string;
  session?: string;
  /** As they were named; `-` is what comes in on stdin. */
  files: readonly string[];
  /** One thing that is wanted, in a sentence. */
  wish?: string;
  /** Reads stdin to its end. */
  stdin(): Promise<Buffer>;
}

/** As `ralph feedback --json` prints it. */
interface GivenFeedback {
  session_id: string;
  /** The cycle it is for. */
  iteration: number;
  /** Absolute path of feedbacks.md. */
  file: string;
  attachments: string[];
  issues: { id: string; kind: string; text: string }[];
  /** The form is still empty: nothing is read before somebody writes into it. */
  empty: boolean;
  warnings: string[];
  next: string;
}

const WORDS = new Set(['.md', '.markdown', '.mdown', '.txt', '']);

/** Throws a Problem where it cannot be given; then nothing was written. */
export async function giveFeedback(request: FeedbackRequest): Promise<{ data: GivenFeedback; text: string }> {
  const { cwd, files } = request;
  const { session, state, live } = await openToChange(cwd, request.session);
  const cycle = state.cycle + 1;
  const { words, beside } = await readAll(request);
  const wish = request.wish?.trim() ?? null;
  if (wish === '') throw nothingSaid();
  const names = attachmentNames(beside);
  const at = Date.now();
  const text = writeFeedback({ cycle, at, words, wish, attachments: names });
  if (Buffer.byteLength(text) > FEEDBACK_BYTES) throw tooLong(files[0] ?? '-m');
  const lying = await batchesFor(session.dir, cycle);
  const form = words === null && wish === null ? lying.find(({ reading }) => reading.untouched) : undefined;
  const key = words === null && wish === null ? null : await signingKey({ create: true });
  const attachments = beside.map((from, n) => ({ from, name: names[n]! }));
  const path =
    form === undefined
      ? await writeBatch({ sessionDir: session.dir, cycle, at, text, attachments, key })
      : `${form.folder}/feedbacks.md`;
  const reading = readFeedback(path.replace(/\/feedbacks\.md$/, ''), text, names);
  if (reading.untouched && (words !== null || wish !== null)) reading.warnings.push(EMPTY_WORDS);
  const file = join(session.dir, path);
  const data: GivenFeedback = {
    session_id: session.id,
    iteration: cycle,
    file,
    attachments: names,
    issues: reading.issues,
    empty: reading.untouched,
    warnings: [
      ...(words === null ? [] : reading.warnings),
      ...(await waiting({ dir: session.dir, state, besides: form?.folder ?? path })),
    ],
    next: nextWords(state, {
      id: session.id,
      named: request.session !== undefined,
      live: live.runner !== null,
    }),
  };
  return { data, text: toldText(data, { shown: relative(cwd, file), again: form !== undefined }) };
}

const EMPTY_WORDS = 'Edit the file: as it is, it says nothing, and no cycle is opened for it.';

/** The words of the first file, and the files that go beside them. */
async function readAll({ cwd, files, wish, stdin }: FeedbackRequest): Promise<{
  words: string | null;
  beside: string[];
}> {
  const [first, ...rest] = files;
  if (rest.includes('-')) throw stdinLater();
  const paths = (list: readonly string[]) => list.map((file) => checked(resolve(cwd, file), file));
  if (first === undefined) return { words: null, beside: [] };
  if (first === '-') return { words: textOf(await stdin(), 'what came in on stdin'), beside: paths(rest) };
  if (!WORDS.has(extname(first).toLowerCase())) {
    if (wish === undefined) throw noWords(first);
    return { words: null, beside: paths(files) };
  }
  const file = checked(resolve(cwd, first), first);
  const { size } = statSync(file);
  if (size > FEEDBACK_BYTES) throw tooLong(first);
  return { words: textOf(await readFile(file), first), beside: paths(rest) };
}

function checked(file: string, named: string): string {
  const there = existsSync(file) ? statSync(file) : null;
  if (there?.isFile()) return file;
  throw new Problem({
    code: 'feedback.file',
    what: there === null ? `There is no file ${named}.` : `${named} is no file.`,
    why: 'The first file holds the words of the feedback, and the others are copied beside it.',
    fix: 'Name files that are there, or say it in a sentence: ralph feedback -m "…".',
    at: named,
  });
}

function textOf(bytes: Buffer, named: string): string {
  if (bytes.length > FEEDBACK_BYTES) throw tooLong(named);
  const text = bytes.toString('utf8');
  if (bytes.includes(0) || text.includes('\ufffd')) {
    throw new Problem({
      code: 'feedback.binary',
      what: `${named} is not text.`,
      why: 'Its words become feedbacks.md, which is Markdown in UTF-8.',
      fix: named === 'what came in on stdin' ? 'Pipe text into it.' : attach(named),
    });
  }
  if (text.trim() === '') throw nothingSaid();
  return text;
}

const attach = (file: string): string =>
  `Say what it shows, and let it lie beside: ralph feedback -m "…" ${basename(file)}.`;

const noWords = (file: string): Problem =>
  new Problem({
    code: 'feedback.no_words',
    what: `${file} is no Markdown, and nothing else says what the feedback is.`,
    why: 'The first file holds the words; what lies beside it is only listed.',
    fix: attach(file),
  });

const tooLong = (named: string): Problem =>
  new Problem({
    code: 'feedback.long',
    what: `${named} is longer than ${FEEDBACK_BYTES / 1024} KB.`,
    why: 'Feedback stands in prompts, which are bounded; files beside it may be as long as they like.',
    fix: 'Say the point in a few words, and give the long text as a second file.',
  });

const nothingSaid = (): Problem =>
  new Problem({
    code: 'feedback.empty',
    what: 'There is nothing in it: the feedback is empty.',
    why: 'Feedback opens a cycle, so it has to say what is wrong or wanted.',
    fix: 'ralph feedback -m "…", or without anything: then the form is put there for you to fill in.',
  });

const stdinLater = (): Problem =>
  new Problem({
    code: 'usage.stdin',
    what: '- is only understood as the first file.',
    why: 'What comes in on stdin is the words of the feedback, and the other files lie beside it.',
    fix: 'ralph feedback - FILE…',
  });

interface Waiting {
  dir: string;
  state: State;
  /** What this call is about itself. */
  besides: string;
}

/** Batches that nobody will read as they lie. `besides`: a folder that is told of otherwise. */
export async function waiting({ dir, state, besides }: Waiting): Promise<string[]> {
  const lost = (await batchesFor(dir, state.cycle))
    .filter(({ id, reading }) => !reading.untouched && !state.seenMessages.has(id))
    .map(
      ({ folder }) =>
        `${folder} lies in the cycle that is on already, so nobody reads it; to give it for the next one: ralph feedback ${join(dir, folder, 'feedbacks.md')}`,
    );
  const forms = (await batchesFor(dir, state.cycle + 1))
    .filter(({ folder, reading }) => reading.untouched && !besides.startsWith(folder))
    .map(({ folder }) => `${folder}: nobody has written anything into it, so it is no feedback`);
  return [...lost, ...forms, ...oddBatches(dir, state.cycle + 1)];
}

function nextWords(state: State, at: { id: string; named: boolean; live: boolean }): string {
  const { cycle } = state;
  if (at.live) return `The run that is on opens cycle ${cycle + 1} with it when cycle ${cycle} is over.`;
  const names = state.policy?.loop === undefined && (at.named || state.aborted !== null);
  const run = commandFor(state, names ? `ralph run --session ${at.id}` : 'ralph run');
  const over = state.phase === 'COMPLETE' || state.phase === 'KNOWLEDGE_APPROVAL' || state.aborted !== null;
  return over
    ? `\`${run}\` opens cycle ${cycle + 1} with it.`
    : `Cycle ${cycle} is not over: \`${run}\` goes on with it, and opens cycle ${cycle + 1} with your feedback then.`;
}

function toldText(data: GivenFeedback, { shown, again }: { shown: string; again: boolean }): string {
  const { iteration, issues, attachments, warnings, next, empty } = data;
  const path = shown.startsWith('..') ? data.file : shown;
  const warned = warnings.map((line) => `Note: ${line}`);
  if (empty) {
    const there = again ? 'An empty form lies there already' : 'A form for your feedback';
    return [`${there}: ${path}`, `Fill it in. ${next}`, ...warned].join('\n');
  }
  const many = issues.length === 1 ? '1 point' : `${issues.length} points`;
  const files = attachments.length === 0 ? '' : `, with ${attachments.join(', ')} beside it`;
  return [`Feedback for cycle ${iteration}: ${many}${files}, in ${path}`, next, ...warned].join('\n');
}
