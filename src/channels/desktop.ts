/**
 * Notices on the desktop of this machine: that a question waits, that something is wrong, that the run is over.
 * Nobody can answer there. The texts reach the system's own program as arguments and never as a command.
 */

import type { Channel, News } from '../engine/index.ts';
import { findProgram, run } from '../process/index.ts';
import { oneLine } from '../views/index.ts';

export interface DesktopOptions {
  /** Must hold PATH, and what the desktop needs to be found (DISPLAY, DBUS_SESSION_BUS_ADDRESS …). */
  env: Record<string, string>;
  warn(text: string): void;
  /** Default: this machine's. */
  platform?: NodeJS.Platform;
  /** Epoch ms. Default: the system's. */
  now?(): number;
}

/** At most so many in so long; a desktop full of notices is read by nobody. */
const MOST = 6;
const WITHIN_MS = 60_000;
/** `notify-send` waits for a desktop that is not there. */
const TRY_MS = 5_000;
const TITLE_CHARS = 100;
const BODY_CHARS = 300;

interface Shown {
  title: string;
  body: string;
  urgent: boolean;
}

/** A channel that shows questions, critical notices and the end of a run. Nobody answers through it. */
export function desktopChannel(options: DesktopOptions): Channel {
  const { env, warn, platform = process.platform, now = Date.now } = options;
  let program: string | null = null;
  let warned = false;
  const shownAt: number[] = [];
  const warnOnce = (text: string) => {
    if (!warned) warn(text);
    warned = true;
  };

  return {
    name: 'desktop',
    answers: false,
    open() {
      const name = PROGRAMS[platform];
      program = name === undefined ? null : findProgram(name, env);
      if (name === undefined) warnOnce(`Notices on the desktop are not available on ${platform}.`);
      else if (program === null)
        warnOnce(
          `Notices on the desktop need ${name}, which is not on PATH${platform === 'linux' ? ' (package libnotify-bin)' : ''}.`,
        );
      return Promise.resolve();
    },
    async show(news) {
      const shown = shownOf(news);
      // What this channel is not for has not failed to arrive.
      if (shown === null) return program !== null;
      if (program === null) return false;
      const at = now();
      while (shownAt.length > 0 && shownAt[0]! <= at - WITHIN_MS) shownAt.shift();
      if (shownAt.length >= MOST) return false;
      shownAt.push(at);
      const command = [program, ...argumentsFor(platform, shown)];
      const ran = await run({ command, cwd: '/', env, wallMs: TRY_MS, idleMs: null, graceMs: 500 }).done;
      const ok = ran.ending === 'exited' && ran.exitCode === 0;
      if (!ok) warnOnce('Notices do not reach the desktop: its program ended without success.');
      return ok;
    },
    close: () => Promise.resolve(),
  };
}

const PROGRAMS: Partial<Record<NodeJS.Platform, string>> = { linux: 'notify-send', darwin: 'osascript' };

/** On macOS the texts are arguments of the script, so that no quote in them can end a string of it. */
const APPLESCRIPT = [
  'on run argv',
  'display notification (item 2 of argv) with title (item 1 of argv)',
  'end run',
].flatMap((line) => ['-e', line]);

function argumentsFor(platform: NodeJS.Platform, { title, body, urgent }: Shown): string[] {
  if (platform === 'darwin') return [...APPLESCRIPT, title, body];
  // Desktops read the body as markup.
  const plain = body.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
  return ['--app-name=Ralph', `--urgency=${urgent ? 'critical' : 'normal'}`, '--', title, plain];
}

function shownOf(news: News): Shown | null {
  const loop = news.context.loop === 'main' ? '' : ` · ${news.context.loop}`;
  const shown = (title: string, body: string, urgent: boolean): Shown => ({
    title: oneLine(`Ralph${loop}: ${title}`, TITLE_CHARS),
    body: oneLine(body, BODY_CHARS),
    urgent,
  });
  switch (news.kind) {
    case 'question':
      return shown(`question ${news.question.id}`, news.question.text, true);
    case 'notice':
      return news.level === 'critical' ? shown('attention', news.text, true) : null;
    case 'ended':
      return shown(news.exit.word.toLowerCase(), news.exit.reason, news.exit.code !== 0);
    default:
      return null;
  }
}
