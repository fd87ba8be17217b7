/** The ways to people that a run opens, and what they may do with it: look, and put messages into its mailbox. */
import { join } from 'node:path';
import type { Settings } from '../config/index.ts';
import type { Redactor } from '../core/index.ts';
import type { Channel, LoopInbox } from '../engine/index.ts';
import { withoutOwnSecrets } from './environment.ts';
import { pairedChats, pollerLease } from './pairing.ts';
import type { Place } from './place.ts';
import { redactorHere } from './secrets.ts';

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
  return found.map((channel) => discreet(channel, redactorHere()));
}

/** The channel, told everything without secrets, and shown nothing else where it looks for itself. */
function discreet(channel: Channel, redactor: Redactor): Channel {
  const over = <T extends LoopInbox>(inbox: T): T =>
    // What it says of itself may change, so it is asked itself.
    Object.assign(Object.create(inbox) as T, {
      open: () => redactor.value(inbox.open()),
      question: (id: string) => redactor.value(inbox.question(id)),
      view: async (window: Parameters<LoopInbox['view']>[0]) => redactor.text(await inbox.view(window)),
    });
  return {
    name: channel.name,
    answers: channel.answers,
    open: (inbox) =>
      channel.open(Object.assign(over(inbox), { others: async () => (await inbox.others()).map(over) })),
    show: (news) => channel.show(redactor.value(news)),
    close: () => channel.close(),
  };
}
