/** The ways to people that a run opens, and what they may do with it: look, and put messages into its mailbox. */
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../config/index.ts';
import type { Channel, ChannelInbox, House, LoopName } from '../engine/index.ts';
import { signingKey, writeSignal } from '../store/index.ts';
import { statusText, tasksText } from '../views/index.ts';
import { withoutOwnSecrets } from './environment.ts';
import { pairedChats, pollerLease } from './pairing.ts';
import type { Place } from './place.ts';

export interface ChannelsRequest {
  place: Place;
  settings: Settings;
  env: NodeJS.ProcessEnv;
  /** A sentence for whoever watches the run. */
  say(text: string): void;
}

/** What `makeChannels` makes, by name; `answers`: a person can answer through it. */
export function plannedChannels({ robot, channels }: Settings): { name: string; answers: boolean }[] {
  return [
    ...(robot.enabled && robot.botToken !== null ? [{ name: 'telegram', answers: true }] : []),
    ...(channels.webhook === null ? [] : [{ name: 'webhook', answers: channels.webhook.answers }]),
    ...(channels.desktop ? [{ name: 'desktop', answers: false }] : []),
  ];
}

/** The channels of these settings, none of them listening yet. Their code is loaded only where one is wanted. */
export async function makeChannels({ place, settings, env, say }: ChannelsRequest): Promise<Channel[]> {
  const { robot, channels } = settings;
  if (plannedChannels(settings).length === 0) return [];
  const made = await import('../channels/index.ts');
  const found: Channel[] = [];
  const folder = join(place.mainDir, '.ralph');
  if (robot.enabled && robot.botToken !== null) {
    found.push(
      made.telegramChannel({
        token: robot.botToken,
        apiUrl: robot.apiUrl,
        allowedUsers: robot.allowedUsers,
        paired: pairedChats(place.mainDir),
        stateFile: join(folder, 'telegram-state.json'),
        now: Date.now,
        say,
        lease: pollerLease(robot.botToken, env),
        env,
      }),
    );
  }
  if (channels.webhook !== null) {
    const { answerUrl, ...webhook } = channels.webhook;
    const stateFile = join(folder, 'webhook-state.json');
    found.push(made.webhookChannel({ ...webhook, answerUrl: answerUrl ?? undefined, stateFile, warn: say }));
  }
  if (channels.desktop) {
    found.push(made.desktopChannel({ env: withoutOwnSecrets(env), warn: say }));
  }
  return found;
}

/** As many lines of a transcript as a person reads on a phone. */
const TAIL_LINES = 30;
const TAIL_BYTES = 16 * 1024;

/** `restart`: told when a person asks for it; the message that ends the run is sent before. */
export function inboxOf(house: House, { where, memories, env, restart }: InboxCall): ChannelInbox {
  const runner = { pid: process.pid, host: hostname(), startedAt: house.clock.now() };
  const send: ChannelInbox['send'] = async ({ text, key: once, ...spoken }) => {
    const key = await signingKey({ create: true, env });
    const draft = { ...spoken, ...(text === '' ? {} : { message: text }) };
    return writeSignal(house.sessionDir, draft, { key, ...(once === undefined ? {} : { once }) });
  };
  return {
    send,
    open: () => [...house.state.openQuestions].map((id) => house.state.questions.get(id)!.question),
    question(id) {
      const known = house.state.questions.get(id);
      return known === undefined ? null : { question: known.question, state: known.state, by: known.by };
    },
    async view(window) {
      const { state } = house;
      switch (window) {
        case 'status':
          return statusText(state, house.clock.now(), { runner });
        case 'tasks':
          return tasksText(state);
        case 'memories':
          return memories();
        case 'tail':
          return tailOf(house);
      }
    },
    async restart(by) {
      await send({ type: 'HALT', text: 'restart', from: by });
      restart();
    },
    sessionDir: house.sessionDir,
    context: { ...where, iteration: null, role: null, task: null },
  };
}

export interface InboxCall {
  where: LoopName;
  memories(): Promise<string>;
  env: NodeJS.ProcessEnv;
  restart(): void;
}

async function tailOf(house: House): Promise<string> {
  const { lastIteration } = house.state;
  if (lastIteration === 0) return 'No agent has run yet.';
  try {
    const file = await open(house.works.logPath(lastIteration), 'r');
    try {
      const { size } = await file.stat();
      const length = Math.min(size, TAIL_BYTES);
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
      const lines = buffer.toString('utf8').split('\n').filter(Boolean);
      return lines.length === 0
        ? `Iteration ${lastIteration} has said nothing yet.`
        : [`Iteration ${lastIteration}:`, ...lines.slice(-TAIL_LINES)].join('\n');
    } finally {
      await file.close();
    }
  } catch {
    return `Iteration ${lastIteration} has said nothing yet.`;
  }
}
