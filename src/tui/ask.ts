/**
 * A question answered where it is shown: while the run waits and a person sits at the terminal, the question
 * is printed with its options, and a typed line is the answer. It decides nothing: a line becomes the same
 * message that `ralph answer` sends, and whoever answers first, from wherever, ends the prompt.
 */
import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import {
  commandFor,
  type JournalRecord,
  openQuestions,
  type QuestionState,
  type State,
} from '../core/index.ts';
import type { AgentEvent } from '../engine/index.ts';
import { oneLine, questionText } from '../views/index.ts';
import type { Display } from './display.ts';

export interface AskOptions {
  display: Display;
  input: NodeJS.ReadStream;
  out: NodeJS.WriteStream;
  /** Sends the answer; resolves to the message's id. Rejects with what a person can read. */
  answer(session: string, question: string, text: string): Promise<string>;
  /** Whether this program may read from the terminal now; a background job must not. */
  foreground(): boolean;
  /** Ctrl-C, which a terminal that is read key by key does not turn into a signal. */
  interrupt(): void;
  /** Ctrl-Z, likewise. */
  suspend(): void;
  /** Epoch ms. */
  now(): number;
}

export interface AskingDisplay extends Display {
  /** A sentence beside the display, without breaking the line that is being typed. */
  aside(print: () => void): void;
}

/** A question that is only passed through, because work goes on beside it, is not worth a prompt. Milliseconds. */
const SETTLE_MS = 150;
/** After so long without a sign of the answer it is asked for again. Milliseconds. */
const TAKEN_MS = 10_000;

/** The display with a prompt below it whenever the run waits for an answer. */
export function askingDisplay(options: AskOptions): AskingDisplay {
  const { display, out, now } = options;
  let state: State | null = null;
  let prompt: { id: string; line: Interface } | null = null;
  /** An answer on its way; the prompt stays away meanwhile. */
  let sent: { question: string; message: string | null; at: number } | null = null;
  /** What was typed and not sent when a prompt went away. */
  const drafts = new Map<string, string>();
  let deaf = false;
  let timer: NodeJS.Timeout | null = null;

  const later = (ms: number) => {
    if (timer) clearTimeout(timer);
    timer = deaf ? null : setTimeout(look, ms).unref();
  };

  function look(): void {
    timer = null;
    if (sent && now() - sent.at >= TAKEN_MS) sent = null;
    const wanted = state === null || deaf ? null : waitedFor(state);
    const id = wanted?.question.id ?? null;
    if (prompt && prompt.id !== id) end();
    if (wanted === null || prompt) return;
    if (sent?.question === id || !options.foreground()) return later(1_000);
    begin(wanted);
  }

  function begin(question: QuestionState): void {
    display.rest();
    out.write(
      `\n${[...questionText(question, { state: state ?? { policy: null }, now: now() }), PROMPT_HINT].join('\n')}\n`,
    );
    const { id } = question.question;
    const line = createInterface({
      input: options.input,
      output: out,
      terminal: true,
      historySize: 0,
      prompt: `answer ${id}> `,
    });
    prompt = { id, line };
    line.on('line', (text) => typed(id, text));
    line.on('SIGINT', () => {
      deaf = true;
      end();
      options.interrupt();
    });
    // Away before the stop: a job that goes on in the background must not hold the terminal.
    line.on('SIGTSTP', () => {
      end();
      later(SETTLE_MS);
      options.suspend();
    });
    // Ctrl-D, or a terminal that went away.
    line.on('close', () => {
      if (prompt?.line !== line) return;
      deaf = true;
      prompt = null;
      out.write(
        `\nNothing more is read here; \`${commandFor(state ?? { policy: null }, 'ralph answer')}\` still is.\n`,
      );
      display.wake();
    });
    line.prompt();
    const draft = drafts.get(id);
    if (draft) line.write(draft);
  }

  /** Takes the prompt away; what stands in it is kept for the next one. */
  function end(): void {
    if (!prompt) return;
    const { id, line } = prompt;
    prompt = null;
    if (line.line !== '') drafts.set(id, line.line);
    wipe(out, line);
    line.close();
    display.wake();
  }

  function typed(id: string, text: string): void {
    if (text.trim() === '') return prompt?.line.prompt();
    sent = { question: id, message: null, at: now() };
    drafts.delete(id);
    end();
    options.answer(state?.session?.id ?? '', id, text.trim()).then(
      (message) => {
        if (sent?.question === id) sent.message = message;
        later(TAKEN_MS);
      },
      (error: Error) => again(`The answer was not taken: ${oneLine(error.message)}`),
    );
  }

  function again(why: string): void {
    sent = null;
    aside(() => out.write(`${why}\n`));
    later(0);
  }

  function aside(print: () => void): void {
    if (!prompt) return print();
    wipe(out, prompt.line);
    print();
    prompt.line.prompt(true);
  }

  return {
    record(record: JournalRecord, next: State) {
      state = next;
      aside(() => display.record(record, next));
      for (const fact of record.facts) {
        if (fact.type === 'message.rejected' && sent?.message === fact.id) again(fact.reason);
        if (fact.type === 'question.answered' && prompt?.id === fact.id)
          aside(() => out.write(`${fact.id} is answered: ${oneLine(fact.text)} (${oneLine(fact.by)})\n`));
      }
      later(SETTLE_MS);
    },
    event: (iteration: number, event: AgentEvent) => aside(() => display.event(iteration, event)),
    rest: () => display.rest(),
    wake: () => display.wake(),
    aside,
    close() {
      deaf = true;
      if (timer) clearTimeout(timer);
      end();
      display.close();
    },
  };
}

const PROMPT_HINT =
  '   Type the answer, or the letter of an option, and press Enter. An empty line says nothing.';

/** The question that stops the work now; null while agents run, or while something else is waited for. */
function waitedFor(state: State): QuestionState | null {
  if (state.open.size > 0 || state.paused || state.run?.stopped || state.stopAsked || state.aborted)
    return null;
  return openQuestions(state)[0] ?? null;
}

function wipe(out: NodeJS.WriteStream, line: Interface): void {
  moveCursor(out, 0, -line.getCursorPos().rows);
  cursorTo(out, 0);
  clearScreenDown(out);
}
