/** The port to people: what a channel shows them, what it brings back, and what it may look at. */
import type { Exit, Message, MessageType, Question } from '../core/index.ts';

/** Whom a piece of news is about, for people who watch several loops on one phone. */
export interface NewsContext {
  sessionId: string;
  /** The loop's name; `main` in the main checkout. */
  loop: string;
  /** null where it belongs to no iteration. */
  iteration: number | null;
  role: string | null;
  task: string | null;
}

/** What a channel shows to people. */
export type News =
  /** `repeat`: this channel showed it before, to a runner that is gone. */
  | { kind: 'question'; question: Question; repeat: boolean; context: NewsContext }
  /** `text`: the answer, or what silence or its closing meant. */
  | {
      kind: 'over';
      question: Question;
      how: 'answered' | 'expired' | 'closed';
      text: string;
      by: string | null;
      context: NewsContext;
    }
  | { kind: 'notice'; level: 'info' | 'warning' | 'critical'; text: string; context: NewsContext }
  /** What an agent told of itself with `ralph tools interact progress`; nobody waits for it. */
  | { kind: 'progress'; text: string; context: NewsContext }
  /** A message of a person stands in the prompt of `iteration`, or reached the agent while it ran (`live`). */
  | { kind: 'delivered'; message: Message; iteration: number; live: boolean; context: NewsContext }
  /** A message of a person was taken in (`refused` false) or not; `text`: what it did, or why not. */
  | { kind: 'handled'; id: string; refused: boolean; text: string; context: NewsContext }
  | { kind: 'paused' | 'resumed'; text: string; by: string; context: NewsContext }
  | { kind: 'ended'; exit: Exit; context: NewsContext };

/** What a person said through a channel, before it lies in the mailbox. */
export interface Spoken {
  type: MessageType;
  text: string;
  /** Who, for people: `telegram:123 (Ann)`. */
  from: string;
  question?: string;
  option?: string;
  target?: string;
  urgent?: boolean;
  /** Paths of attachments, relative to the session's folder. */
  files?: string[];
  /** HALT: `restart` starts the same command again after it. */
  op?: string;
  /**
   * Names this word for good: said again with the same key, after a crash, it is the same message and its id is
   * answered. Letters, digits, `_` and `-`, at most 80; absent: said once.
   */
  key?: string;
}

/** What a channel may do with a loop: look, and send messages. It cannot append facts. */
export interface LoopInbox {
  /** Puts it into the mailbox durably, as a named person's word; answers the message's id. */
  send(spoken: Spoken): Promise<string>;
  /** Open questions now, in the order they were asked. */
  open(): Question[];
  /** The question of this id with what became of it; null: unknown. */
  question(
    id: string,
  ): { question: Question; state: 'open' | 'answered' | 'expired' | 'closed'; by: string | null } | null;
  /** A window as plain text. `tail`: the last lines of the running iteration's log. */
  view(window: 'status' | 'tasks' | 'memories' | 'tail'): Promise<string>;
  /** Stops at the next boundary, then starts the same command again. */
  restart(by: string): Promise<void>;
  /** Absolute; where attachments go: `attachments/` below it. */
  readonly sessionDir: string;
  readonly context: NewsContext;
}

/** Another loop of the project, as it was when it was asked for. */
export interface OtherLoop extends LoopInbox {
  /** `waits`: nobody runs it now, and it may go on. `ended`: its work is over, and nobody would read a word. */
  readonly standing: 'live' | 'waits' | 'ended';
}

/** The loop that a channel belongs to, and the way from it to the others. */
export interface ChannelInbox extends LoopInbox {
  /** Whether this loop hears for all loops of the project. It changes when another loop ends, so it is asked again and again. */
  hears(): boolean;
  /** The newest session of each other work tree; looked up anew. */
  others(): Promise<OtherLoop[]>;
}

/** One way to people. It translates between them and the loop and decides nothing. */
export interface Channel {
  readonly name: string;
  /** A person can answer through it. */
  readonly answers: boolean;
  /** Begins to listen. Throws a Problem where it cannot be used at all. */
  open(inbox: ChannelInbox): Promise<void>;
  /**
   * True: it arrived at somebody. False: the first try and its three retries (after 1, 2 and 4 s) failed, or there is
   * nobody to show it to. Calls come one after the other. Never rejects.
   */
  show(news: News): Promise<boolean>;
  /** Stops listening; what was received is in the mailbox by then. Settles within five seconds. */
  close(): Promise<void>;
}
