/**
 * An attempt's outbox, followed while it grows: questions and topics take effect during the run, and
 * a line without the live token is refused.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { interaction, type OutboxLine, readOutboxLine, type State } from '../core/index.ts';
import { append, type House } from './house.ts';

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
}

/** Most bytes that are read of one outbox; an agent that writes more is cut off here. */
const MAX_BYTES = 8 * 1024 * 1024;

/** The topic that asks people; a question is known by its text. */
const ASKING = 'human.interact';

export async function followOutbox(house: House, path: string, owner: OutboxOwner): Promise<Outbox> {
  const file = openSync(path, 'r');
  const lines: OutboxLine[] = [];
  const cursor = { at: 0, rest: Buffer.alloc(0) };
  // After a crash the outbox is read from its beginning: what the journal has of it is not said again.
  let known = house.state.topics.filter(({ iteration }) => iteration === owner.iteration).length;
  const verify = (token: string) => house.sha256(token) === owner.tokenHash;
  return {
    async poll() {
      for (const text of newLines(file, cursor)) {
        const line = readOutboxLine(text, { verify });
        lines.push(line);
        if (line.kind === 'topic' && line.topic !== ASKING && known > 0) known -= 1;
        else await act(house, owner, line);
      }
    },
    lines: () => lines,
    close: () => closeSync(file),
  };
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
  if (line.kind === 'note' && line.progress) {
    house.event(owner.iteration, { kind: 'text', text: line.text });
    return;
  }
  if (line.kind !== 'topic') return;
  const { topic, payload } = line;
  const { iteration, role } = owner;
  if (topic === ASKING) {
    await append(house, (state) =>
      asked(state, iteration, payload)
        ? []
        : [{ type: 'question.asked', question: ask(house, owner, payload) }],
    );
    return;
  }
  await append(house, [{ type: 'topic.published', iteration, role, topic, payload }]);
}

function ask(house: House, owner: OutboxOwner, payload: string) {
  const { about, agent, iteration } = owner;
  return interaction(house.state, payload, { about, askedBy: agent, iteration, askedAt: house.clock.now() });
}

function asked(state: State, iteration: number, payload: string): boolean {
  const text = interaction(state, payload, { about: '', askedBy: '', iteration, askedAt: 0 }).text;
  for (const { question } of state.questions.values()) {
    if (question.iteration === iteration && question.text === text) return true;
  }
  return false;
}
