/** Desktop notices with a real program in the place of the desktop's own. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { News } from '../engine/index.ts';
import { type DesktopOptions, desktopChannel } from './desktop.ts';
import { CONTEXT, QUESTION, testInbox } from './test-inbox.ts';

let dir: string;
let warned: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ralph-desktop-'));
  warned = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Puts a program there that writes its arguments down, one a line. */
function place(name: string, ending = 'exit 0'): void {
  const file = join(dir, name);
  writeFileSync(
    file,
    `#!/bin/sh\nfor one in "$@"; do printf '%s\\n' "$one" >> "${dir}/said"; done\n${ending}\n`,
  );
  chmodSync(file, 0o755);
}
const said = () => (existsSync(join(dir, 'said')) ? readFileSync(join(dir, 'said'), 'utf8').split('\n') : []);

async function desktop(over: Partial<DesktopOptions> = {}) {
  const channel = desktopChannel({
    env: { PATH: `${dir}:/bin:/usr/bin` },
    platform: 'linux',
    warn: (text) => warned.push(text),
    ...over,
  });
  await channel.open(testInbox());
  return channel;
}

const ASKS: News = { kind: 'question', question: QUESTION, repeat: false, context: CONTEXT };
const notice = (level: 'info' | 'critical', text: string): News => ({
  kind: 'notice',
  level,
  text,
  context: CONTEXT,
});

test.skipIf(process.platform === 'win32')(
  'a question, a critical notice and the end are shown; nothing else is',
  async () => {
    place('notify-send');
    const channel = await desktop();
    const ended: News = {
      kind: 'ended',
      exit: { code: 0, word: 'COMPLETE', reason: 'all is done' },
      context: CONTEXT,
    };
    for (const news of [
      ASKS,
      notice('info', 'hm'),
      { kind: 'progress', text: 'half', context: CONTEXT } as const,
    ])
      expect(await channel.show(news)).toBe(true);
    expect(await channel.show(notice('critical', 'stuck'))).toBe(true);
    expect(await channel.show(ended)).toBe(true);
    expect(said()).toEqual([
      ...['--app-name=Ralph', '--urgency=critical', '--', 'Ralph: question q1', 'Which colour?'],
      ...['--app-name=Ralph', '--urgency=critical', '--', 'Ralph: attention', 'stuck'],
      ...['--app-name=Ralph', '--urgency=normal', '--', 'Ralph: complete', 'all is done'],
      '',
    ]);
    expect(warned).toEqual([]);
  },
);

test.skipIf(process.platform === 'win32')('no text is a command, an option or markup', async () => {
  place('notify-send');
  place('osascript');
  const text = '--help $(touch pwned) `id` "; do shell script "id" & <b>x</b>\u202e\nnew';
  await (await desktop()).show(notice('critical', text));
  expect(said().at(-2)).toBe(
    '--help $(touch pwned) `id` "; do shell script "id" &amp; &lt;b&gt;x&lt;/b&gt; new',
  );
  rmSync(join(dir, 'said'));
  await (await desktop({ platform: 'darwin' })).show(notice('critical', text));
  expect(said().slice(0, -1)).toEqual([
    ...['-e', 'on run argv'],
    ...['-e', 'display notification (item 2 of argv) with title (item 1 of argv)'],
    ...['-e', 'end run'],
    'Ralph: attention',
    '--help $(touch pwned) `id` "; do shell script "id" & <b>x</b> new',
  ]);
  expect(existsSync('pwned')).toBe(false);
});

test('without a program one warning is given, and nothing counts as shown', async () => {
  const channel = await desktop({ env: { PATH: dir } });
  expect([await channel.show(ASKS), await channel.show(ASKS), channel.answers]).toEqual([
    false,
    false,
    false,
  ]);
  expect(warned).toEqual([
    'Notices on the desktop need notify-send, which is not on PATH (package libnotify-bin).',
  ]);
  warned = [];
  await desktop({ platform: 'win32' });
  expect(warned).toEqual(['Notices on the desktop are not available on win32.']);
});

test.skipIf(process.platform === 'win32')('a desktop that is not there is warned about once', async () => {
  place('notify-send', 'exit 1');
  const channel = await desktop();
  expect([await channel.show(ASKS), await channel.show(ASKS)]).toEqual([false, false]);
  expect(warned).toEqual(['Notices do not reach the desktop: its program ended without success.']);
});

test.skipIf(process.platform === 'win32')('at most six in a minute', async () => {
  place('notify-send');
  let now = 0;
  const channel = await desktop({ now: () => now });
  const shown = [];
  for (let n = 0; n < 8; n++) shown.push(await channel.show(notice('critical', `n${n}`)));
  expect(shown).toEqual([true, true, true, true, true, true, false, false]);
  now = 60_000;
  expect(await channel.show(notice('critical', 'later'))).toBe(true);
});
