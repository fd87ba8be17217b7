/**
 * An attempt's outbox, followed while it grows: questions and topics take effect during the run, and
 * a line without the live token is refused.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import {
  boundsOf,
  type Fact,
  interaction,
  isDue,
  MAX_TOPICS,
  mayPublish,
  type OutboxLine,
  openPermissions,
  type Question,
  type QuestionState,
  readOutboxLine,
  type State,
} from '../core/index.ts';
import { append, type House } from './house.ts';
import { expire } from './perform/expire.ts';
import { pendingGuidance, undeliveredAnswers } from './prompt-input.ts';

export interface Outbox {
  /** Reads what is new and acts on it. */
  poll(): Promise<void>;
  /** Every line so far, in order. */
  lines(): OutboxLine[];
  close(): void;
}

export interface OutboxOwner {
  iteration: number;
  role: string;
  agent: string;
  about: string;
  /** sha256 of the live token. */
  tokenHash: string;
  /** The attempt is over: what it told people on the way was told then. */
  past?: true;
}

/** Most bytes that are read of one outbox; an agent that writes more is cut off here. */
const MAX_BYTES = 8 * 1024 * 1024;

/** So many refusals of one attempt are told one by one; its verdict names the rest. */
const MOST_REFUSALS = 20;

/** The topic that asks people; a question is known by its text. */
const ASKING = 'human.interact';
/** A call that waits for its answer says for how many seconds. */
const WAITING = /"wait_seconds":(\d{1,6})\b/;
const MAX_WAIT_S = 86_400;

export async function followOutbox(house: House, path: string, owner: OutboxOwner): Promise<Outbox> {
  const file = openSync(path, 'r');
  const lines: OutboxLine[] = [];
  const cursor = { at: 0, rest: Buffer.alloc(0) };
  // After a crash the outbox is read from its beginning: what the journal has of it is not said again.
  let known = house.state.topics.filter(({ iteration }) => iteration === owner.iteration).length;
  const verify = (token: string) => house.sha256(token) === owner.tokenHash;
  const waits = new Map<string, number>();
  let refused = 0;
  let topics = 0;
  const item = house.state.attempts.get(owner.iteration)?.item;
  const publishes = item === undefined ? null : boundsOf(house.state.policy, item);
  return {
    async poll() {
      for (const text of newLines(file, cursor)) {
        const line = readOutboxLine(house.redactor.text(text), { verify });
        lines.push(line);
        if (line.kind === 'forged') refused += 1;
        if (line.kind === 'topic' && line.topic !== ASKING) {
          if (!mayPublish(line.topic, publishes)) continue;
          topics += 1;
          if (topics > MAX_TOPICS) {
            if (topics === MAX_TOPICS + 1) await tell(house, tooMany(owner));
            continue;
          }
        }
        if (line.kind === 'topic' && line.topic !== ASKING && known > 0) known -= 1;
        else if (line.kind !== 'forged' || refused <= MOST_REFUSALS) await act(house, owner, line);
        if (line.kind === 'topic' && line.topic === ASKING) {
          const { text } = interaction(house.state, line.payload, NOBODY);
          waits.set(text, waitEnd(line.payload, house.clock.now()));
        }
      }
      await standStill(house, owner, waits);
    },
    lines: () => lines,
    close: () => closeSync(file),
  };
}

/** While a call waits for a person, silence is heard in time and the attempt's clocks stand still. */
async function standStill(
  house: House,
  { iteration }: OutboxOwner,
  waits: Map<string, number>,
): Promise<void> {
  const handle = house.live.get(iteration);
  if (handle === undefined) return;
  const now = house.clock.now();
  let waiting = false;
  for (const [text, until] of waits) {
    if (until <= now) continue;
    const entry = asked(house.state, iteration, text);
    if (entry?.state !== 'open' || entry.stopped) continue;
    if (isDue(house.state, entry, now)) await expire(house, entry.question.id);
    waiting ||= asked(house.state, iteration, text)?.state === 'open';
  }
  if (waiting || openPermissions(house.state, iteration).length > 0) handle.pauseClocks?.();
  else handle.resumeClocks?.();
}

function newLines(file: number, cursor: { at: number; rest: Buffer }): string[] {
  const { size } = fstatSync(file);
  const end = Math.min(size, MAX_BYTES);
  if (end <= cursor.at) return [];
  const buffer = Buffer.alloc(end - cursor.at);
  const bytesRead = readSync(file, buffer, 0, buffer.length, cursor.at);
  cursor.at += bytesRead;
  const whole = Buffer.concat([cursor.rest, buffer.subarray(0, bytesRead)]);
  const cut = whole.lastIndexOf(10) + 1;
  cursor.rest = whole.subarray(cut);
  return whole
    .subarray(0, cut)
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
}

async function act(house: House, owner: OutboxOwner, line: OutboxLine): Promise<void> {
  const { iteration, role } = owner;
  switch (line.kind) {
    case 'note':
      if (line.progress && owner.past !== true) house.event(iteration, { kind: 'progress', text: line.text });
      return;
    case 'ack':
      return append(house, (state) => reached(state, iteration, line));
    case 'task':
      return tell(house, {
        level: 'info',
        text: `Iteration ${iteration} found work that no task names: ${line.title}`,
      });
    case 'forged':
      return tell(house, { level: 'warning', text: refusal(iteration, line) });
    case 'topic': {
      const { topic, payload } = line;
      if (topic !== ASKING) {
        return append(house, [{ type: 'topic.published', iteration, role, topic, payload }]);
      }
      return append(house, (state) =>
        asked(state, iteration, interaction(state, payload, NOBODY).text) === null
          ? [{ type: 'question.asked', question: ask(house, owner, payload) }]
          : [],
      );
    }
    default:
      // A result and its evidence are heard when the attempt has ended.
      return;
  }
}

function refusal(iteration: number, { topic, as }: Extract<OutboxLine, { kind: 'forged' }>): string {
  const name = topic.slice(0, 80);
  return as === 'person'
    ? `Iteration ${iteration} wrote "${name}" into its outbox, which only a person may say: refused.`
    : `Iteration ${iteration}: a line "${name}" in its outbox carried no token or an old one: refused.`;
}

/** Nothing that it publishes from here on is heard. */
function tooMany({ iteration, role }: OutboxOwner): { level: 'warning'; text: string } {
  const text = `Iteration ${iteration} (${role}) published more than ${MAX_TOPICS} topics: the rest was dropped. Many things at once belong into one payload, or into a file that it names.`;
  return { level: 'warning', text };
}

/** Once for each text: an outbox is read again after a crash. */
function tell(house: House, { level, text }: { level: 'info' | 'warning'; text: string }): Promise<void> {
  return append(house, (state) =>
    state.notices.some((given) => given.text === text) ? [] : [{ type: 'notice.given', level, text }],
  );
}

/** What an attempt says it has read, as far as it was for it and it did not have it already. */
function reached(state: State, iteration: number, read: { messages: string[]; questions: string[] }): Fact[] {
  const attempt = state.attempts.get(iteration);
  if (attempt === undefined) return [];
  const had = new Set(attempt.delivered);
  const messages = pendingGuidance(state, attempt.item)
    .map(({ message }) => message.id)
    .filter((id) => read.messages.includes(id) && !had.has(id));
  const questions = undeliveredAnswers(state, attempt.item)
    .map(({ question }) => question.id)
    .filter((id) => read.questions.includes(id) && !had.has(id));
  if (messages.length + questions.length === 0) return [];
  return [{ type: 'guidance.reached', iteration, messages, questions, how: 'tool' }];
}

function ask(house: House, owner: OutboxOwner, payload: string): Question {
  const { about, agent, iteration } = owner;
  return interaction(house.state, payload, { about, askedBy: agent, iteration, askedAt: house.clock.now() });
}

/** For reading what would be asked. */
const NOBODY = { about: '', askedBy: '', iteration: 0, askedAt: 0 };

/** The question of this text in this iteration, the last of them; null: none. */
function asked(state: State, iteration: number, text: string): QuestionState | null {
  let found: QuestionState | null = null;
  for (const known of state.questions.values()) {
    if (known.question.iteration === iteration && known.question.text === text) found = known;
  }
  return found;
}

/** How long a call waits for its answer, as its payload says; 0 where it does not. Epoch ms. */
function waitEnd(payload: string, now: number): number {
  const seconds = WAITING.exec(payload)?.[1];
  return seconds === undefined ? 0 : now + Math.min(Number(seconds), MAX_WAIT_S) * 1000;
}
