/**
 * Talks with an agent while it works. Each message is one line on its stdin, known by an id; it counts as
 * taken in when a line of stdout says so, and not before. stdin stays open until the agent has said its last
 * word and nothing that was sent is still under way.
 */
import { randomUUID } from 'node:crypto';

/** How one agent program is talked to. Lines are without their end. */
export interface LiveInput {
  /** What stdin gets for this text, the prompt first; empty: it waits for a word of the agent, see `answer`. */
  message(text: string, id: string): string;
  /** A line that ends what the agent is at, so that the next message is read at once; absent where it cannot. */
  interrupt?(id: string): string;
  /** The id of the message that this line of stdout says was taken in; null where it says none. */
  taken(line: string): string | null;
  /** What stdin gets in return for this line of stdout; null: nothing. What takes a while is said `later`. */
  answer?(line: string, later: (words: string) => void): string | null;
  /** It tells of a failure before it tries again: a word of its end is waited for a while then. */
  triesAgain?: true;
  /** What it left in the background begins a further turn when it ends, in which it has to be heard and answered. */
  wakesUp?: true;
}

/** The stdin of a child, as far as a talk needs it. */
export interface Input {
  write(text: string): boolean;
  endInput(): void;
}

/** One talk, from the prompt to the end of the process. */
export interface Talk {
  /** True once the agent took it in; false when it ended before, or does not listen any more. */
  send(text: string, how?: { urgent?: boolean }): Promise<boolean>;
  /** A line of the agent's stdout. */
  heard(line: string): void;
  /**
   * The agent has said its last word: ends stdin. Where something that was sent is still under way, a further turn
   * may begin with it, and stdin stays open for a moment more. The same where it `failed` and may try again, and for
   * as long as it is `busy` with what may wake it up.
   */
  hush(how: { failed: boolean; busy: boolean }): void;
  /** A further turn has begun. */
  goOn(): void;
  /** Asks the agent to end its turn by itself; false where there is none to end, or no way to ask. */
  cancel?(): boolean;
  /** The process is gone. */
  over(): void;
}

/** How long an agent may take from its last word to a further turn, before it is taken for done. */
const MOMENT_MS = 3_000;
/** The same from a failure to its next try, which it announces at once. */
const RETRY_MOMENT_MS = 1_000;

/** Begins with the prompt. */
export function startTalk(input: Input, live: LiveInput, prompt: string): Talk {
  const waiting = new Map<string, (taken: boolean) => void>();
  let open = tell(live.message(prompt, randomUUID()));
  let closing: NodeJS.Timeout | undefined;
  let mayWake = false;

  function tell(words: string): boolean {
    return words === '' || input.write(`${words}\n`);
  }

  function close(): void {
    open = false;
    input.endInput();
  }

  function settle(id: string, taken: boolean): void {
    const settled = waiting.get(id);
    waiting.delete(id);
    settled?.(taken);
  }

  return {
    send(text, { urgent = false } = {}) {
      if (!open) return Promise.resolve(false);
      const id = randomUUID();
      const first = urgent && live.interrupt ? live.interrupt(randomUUID()) : '';
      if (!tell(first) || !tell(live.message(text, id))) return Promise.resolve(false);
      return new Promise((resolve) => waiting.set(id, resolve));
    },
    heard(line) {
      if (open) tell(live.answer?.(line, (words) => open && tell(words)) ?? '');
      if (waiting.size === 0) return;
      const id = live.taken(line);
      if (id !== null) settle(id, true);
    },
    hush({ failed, busy }) {
      clearTimeout(closing);
      const retries = failed && live.triesAgain === true;
      if (live.wakesUp === true) mayWake ||= busy;
      if (mayWake && busy) return;
      if (waiting.size > 0 || mayWake) closing = setTimeout(close, MOMENT_MS);
      else if (retries) closing = setTimeout(close, RETRY_MOMENT_MS);
      else close();
    },
    goOn() {
      clearTimeout(closing);
      mayWake = false;
    },
    over() {
      clearTimeout(closing);
      open = false;
      for (const id of [...waiting.keys()]) settle(id, false);
    },
  };
}
