/**
 * Reads every way in: signals, desk files, feedback batches, progress.md and the task file. A fact is appended
 * before a file is moved, so that a crash between the two reads a file twice and acts once.
 */
import {
  commandFor,
  definitionFacts,
  type Fact,
  isPlanned,
  isTerminal,
  type Message,
  openQuestions,
  receive,
  type State,
  shellWord,
  wasBusy,
  wasBusySince,
} from '../core/index.ts';
import { append, type House } from './house.ts';
import { readList, syncSaid } from './list.ts';
import type { DeskFile, DeskNews, GivenFeedback, Incoming } from './ports.ts';
import { readProgress } from './progress.ts';

export async function intake(house: House): Promise<void> {
  await readMailbox(house);
  if (house.state.open.size > 0 || house.live.size > 0) return;
  await readDesk(house);
  // In a moment the wave is closed, and what people do to the files is theirs.
  if (house.state.wave === null || house.state.paused !== null) await showDesk(house);
  await readFeedback(house);
  await readProgress(house);
  await readList(house);
  await readDefinitions(house);
  await syncSaid(house);
}

/** Messages only: what may be read while agents run. */
export function readMailbox(house: House): Promise<void> {
  // Attempts side by side each look; no message is handled twice.
  const mine = house.log.intake.then(() => readAll(house));
  house.log.intake = mine.catch(() => undefined);
  return mine;
}

async function readAll(house: House): Promise<void> {
  for (;;) {
    const incoming = await house.mailbox.poll(house.clock.now());
    let taken = 0;
    for (const batch of batches(house.state, incoming)) taken += await take(house, batch);
    // What lies until a question wants it is seen again at the next look, not at once.
    if (incoming.length < 100 || taken === 0) return;
  }
}

/** Guidance that only queues shares a record; whatever changes the state stands alone. */
function batches(state: State, incoming: Incoming[]): Incoming[][] {
  const groups: Incoming[][] = [];
  let open: Incoming[] | null = null;
  for (const entry of incoming) {
    const queues =
      entry.kind === 'message' &&
      !state.paused &&
      (entry.message.type === 'STEER' || entry.message.type === 'INFO');
    if (queues && open) open.push(entry);
    else {
      groups.push([entry]);
      open = queues ? groups.at(-1)! : null;
    }
  }
  return groups;
}

/** How many of the batch were taken in; the others stay where they lie. */
async function take(house: House, batch: Incoming[]): Promise<number> {
  const outcomes: { entry: Incoming; facts: Fact[] | null }[] = [];
  await append(house, (state) => {
    const live = house.live.size > 0;
    for (const entry of batch) outcomes.push({ entry, facts: factsOf(state, entry, live) });
    return outcomes.flatMap((outcome) => outcome.facts ?? []);
  });
  let taken = 0;
  for (const { entry, facts } of outcomes) {
    if (facts === null) continue;
    await settleFile(house, entry, facts);
    taken += 1;
  }
  return taken;
}

function factsOf(state: State, entry: Incoming, live: boolean): Fact[] | null {
  if (entry.kind === 'rejected') {
    if (state.seenMessages.has(entry.name)) return [];
    return [{ type: 'message.rejected', id: entry.name, reason: entry.reason }];
  }
  // What an agent dropped is its own word, also when it is read only after the agent has ended.
  return receive(state, entry.message, live || wasBusy(state, entry.arrivedAt));
}

async function settleFile(house: House, entry: Incoming, facts: Fact[]): Promise<void> {
  const rejected = facts.find((fact) => fact.type === 'message.rejected');
  const received = facts.find((fact) => fact.type === 'message.received');
  const reason =
    entry.kind === 'rejected' ? entry.reason : rejected?.type === 'message.rejected' ? rejected.reason : null;
  await house.mailbox.settle(entry.name, reason === null ? 'processed' : 'rejected', {
    handledBy: 'ralph',
    handledAt: house.clock.now(),
    actionTaken: received?.type === 'message.received' ? received.action : (reason ?? 'already handled'),
    ...(reason === null ? {} : { reason }),
  });
}

async function readDesk(house: House): Promise<void> {
  const asked = openQuestions(house.state).map((open) => open.question);
  if (asked.length === 0) return;
  const written = new Set<DeskFile>();
  for (const [file, entry] of house.state.desk) if (entry.sha256 !== null) written.add(file as DeskFile);
  for (const news of await house.desk.look(asked, written))
    await append(house, (state) => deskFacts(state, news));
}

function deskFacts(state: State, news: DeskNews): Fact[] {
  const open = state.questions.get(news.id);
  if (open?.state !== 'open') return [];
  if (news.kind === 'unclear') return notice(state, `${news.file}: ${news.reason}`);
  if (news.kind === 'answered' && wasBusy(state, news.writtenAt)) {
    return notice(
      state,
      `${news.file} was changed while an agent was running, so its answer to ${news.id} is not taken; confirm with \`${commandFor(state, `ralph answer ${news.id} "…"`)}\`.`,
    );
  }
  if (news.kind === 'cleared' && news.seenAt !== undefined && wasBusySince(state, news.seenAt)) {
    return notice(
      state,
      `${news.file} lost ${news.id} while an agent was running, which does not clear it; answer with \`${commandFor(state, `ralph answer ${news.id} "…"`)}\`.`,
    );
  }
  const { kind } = open.question;
  const text =
    news.kind === 'answered'
      ? news.text
      : kind === 'blocker'
        ? 'cleared'
        : kind === 'approval' || kind === 'permission'
          ? 'skip'
          : 'Decide yourself.';
  return [{ type: 'question.answered', id: news.id, text, option: null, by: 'desk', via: news.file }];
}

function notice(state: State, text: string): Fact[] {
  if (state.notices.some((given) => given.text === text)) return [];
  return [{ type: 'notice.given', level: 'warning', text }];
}

/** Keeps the desk equal to the open questions, and clears away what was answered and delivered. */
export async function showDesk(house: House): Promise<void> {
  const open = openQuestions(house.state).map((entry) => entry.question);
  const undelivered = [...house.state.questions.values()].some(
    (entry) => !entry.delivered && entry.state === 'answered' && entry.question.kind !== 'blocker',
  );
  if (open.length === 0 && undelivered) return;
  if (open.length === 0) {
    const decide = house.state.desk.get('decide.txt');
    if (decide?.sha256) await house.desk.archive(house.state.lastIteration);
  }
  const changed = await house.desk.show(open);
  if (changed.length === 0) return;
  await append(
    house,
    changed.map(({ file, sha256 }) => ({
      type: 'desk.written' as const,
      file,
      sha256,
      at: house.clock.now(),
    })),
  );
}

/** Planned tasks are files, and people may remove one or bring it back. */
async function readDefinitions(house: House): Promise<void> {
  if (!isPlanned(house.state)) return;
  const { cycle, phase, tasks } = house.state;
  let defined = await house.cycles.defined(cycle);
  const back = [...tasks.values()].filter(
    ({ carry, status, def }) => carry && !isTerminal(status) && !defined.has(def.id),
  );
  // A folder that is still to be filled takes all open tasks over.
  if (back.length > 0 && (phase !== 'REPLANNING' || defined.size > 0)) {
    await house.cycles.begin(cycle, { tasks: back.map(({ def }) => def), notes: [], most: 0 });
    defined = await house.cycles.defined(cycle);
  }
  await append(house, (state) => definitionFacts(state, defined));
}

async function readFeedback(house: House): Promise<void> {
  if (!house.state.session) return;
  for (const batch of await house.feedback.poll(house.state.cycle + 1)) {
    await append(house, (state) =>
      state.seenMessages.has(batch.id)
        ? []
        : !isPersons(state, batch)
          ? notice(state, unconfirmed(house, batch))
          : [
              {
                type: 'message.received',
                message: feedbackMessage(batch, house.clock.now()),
                action: 'queued',
              },
              feedbackFact(batch),
            ],
    );
  }
}

/** What was written while an agent was at work may be the agent's, unless a person signed it. */
export function isPersons(state: State, { signed, writtenAt }: GivenFeedback): boolean {
  return signed === true || writtenAt === undefined || !wasBusy(state, writtenAt);
}

function unconfirmed({ sessionDir }: House, { folder }: GivenFeedback): string {
  const file = shellWord(`${sessionDir}/${folder}/feedbacks.md`);
  return `${folder} was written while an agent was running, so it opens no cycle by itself. If it is yours, give it again: \`ralph feedback ${file}\`.`;
}

function feedbackFact({ id, text, folder }: GivenFeedback): Fact {
  return { type: 'feedback.received', id, text, ...(folder === undefined ? {} : { folder }) };
}

function feedbackMessage(batch: { id: string; text: string }, now: number): Message {
  const base = { id: batch.id, type: 'FEEDBACK' as const, target: 'orchestrator', from: 'feedback folder' };
  return { ...base, text: batch.text, createdAt: now, confirmed: false };
}
