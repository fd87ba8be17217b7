/** What channels are told, and what the loop makes of a channel that reaches nobody. */
import { describe, expect, test } from 'vitest';
import { type Channel, type ChannelInbox, intake, type News, openMessenger } from '../../src/engine/index.ts';
import { crashedAfter, facts, honest, leave, makeWorld, policy, run, send, type World } from './world.ts';

const WHERE = { sessionId: '261128-090000', loop: 'main' };
const ask = (text: string) => [{ topic: 'human.interact', payload: text }];

/** A person's phone: what arrived on it. `works` false: nothing does. */
function phone(works = true): Channel & { told: News[] } {
  const told: News[] = [];
  return {
    told,
    name: 'phone',
    answers: true,
    open: () => Promise.resolve(),
    show(news) {
      if (works) told.push(news);
      return Promise.resolve(works);
    },
    close: () => Promise.resolve(),
  };
}

/** `begin`: what is done between the opening of the channels and the repeats. */
async function withPhone(
  world: World,
  channel: Channel,
  play: () => Promise<unknown>,
  begin: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const { house } = world;
  const inbox: ChannelInbox = {
    send: () => Promise.reject(new Error('nobody writes here')),
    open: () => [],
    question: () => null,
    view: () => Promise.resolve(''),
    restart: () => Promise.resolve(),
    hears: () => true,
    others: () => Promise.resolve([]),
    sessionDir: house.sessionDir,
    context: { ...WHERE, iteration: null, role: null, task: null },
  };
  const messenger = openMessenger({ house, channels: [channel], inbox, where: WHERE, say: () => undefined });
  const { recorded } = house;
  house.recorded = (record) => {
    recorded(record);
    messenger.tell(record, house.state);
  };
  await messenger.open();
  try {
    await begin();
    messenger.repeat();
    await play();
  } finally {
    await messenger.close();
    house.recorded = recorded;
  }
}

const asking = (channels: string[]) => ({
  questions: { ...policy().questions, interactTimeoutS: 60, channels },
  wait: true,
});
const askingWorld = () =>
  makeWorld({
    tasks: [{ id: 't1' }],
    play: (seen, w) =>
      seen.attempt === 1 ? { emit: ask('Which colour?'), say: 'I asked.' } : honest(seen, w),
  });

test('a question, what became of it, and the end of the run are told in this order', async () => {
  const world = askingWorld();
  const channel = phone();
  await withPhone(world, channel, () => run(world, asking(['phone'])));
  expect(channel.told.map(({ kind }) => kind).filter((kind) => kind !== 'notice')).toEqual([
    'question',
    'over',
    'ended',
  ]);
  expect(channel.told.find(({ kind }) => kind === 'question')).toMatchObject({
    repeat: false,
    question: { id: 'q1', text: 'Which colour?' },
    context: { loop: 'main', iteration: 1, task: 't1' },
  });
  expect(facts(world, 'question.shown')).toEqual([
    { type: 'question.shown', id: 'q1', channel: 'phone', reached: true },
  ]);
  leave(world);
});

test('where the only channel reaches nobody, silence is assumed at once', async () => {
  const world = askingWorld();
  let waits: unknown[] = [];
  await withPhone(world, phone(false), async () => {
    const played = await run(world, asking(['phone']));
    waits = played.waits;
    expect(played.exit.code).toBe(0);
  });
  expect(facts(world, 'question.shown').map(({ reached }) => reached)).toEqual([false]);
  expect(facts(world, 'question.expired').map(({ outcome }) => outcome)).toEqual(['proceed']);
  expect(facts(world, 'notice.given').map(({ text }) => text)).toContainEqual(
    expect.stringContaining('q1 reached nobody (phone failed)'),
  );
  expect(waits.length).toBeLessThanOrEqual(1);
  leave(world);
});

test('after a restart an open question is told once more, as a repeat', async () => {
  const world = askingWorld();
  const first = phone();
  await withPhone(world, first, () => run(world, asking(['phone'])));
  const shown = world.records.find(({ facts: all }) => all.some(({ type }) => type === 'question.shown'))!;
  const crashed = crashedAfter(world, shown.seq);
  const second = phone();
  await withPhone(crashed, second, async () => {
    send(crashed, { type: 'ANSWER', question: 'q1', text: 'blue' });
    expect((await run(crashed, asking(['phone']))).exit.code).toBe(0);
  });
  const repeated = second.told.filter(({ kind }) => kind === 'question');
  expect(repeated).toMatchObject([{ repeat: true, question: { id: 'q1' } }]);
  expect(crashed.prompts.filter((prompt) => prompt.includes('blue'))).toHaveLength(1);
  leave(crashed);
  leave(world);
});

test('a question that was answered while nobody ran is not asked again at the next start', async () => {
  const world = askingWorld();
  await withPhone(world, phone(), () => run(world, asking(['phone'])));
  const shown = world.records.find(({ facts: all }) => all.some(({ type }) => type === 'question.shown'))!;
  const crashed = crashedAfter(world, shown.seq);
  const second = phone();
  send(crashed, { type: 'ANSWER', question: 'q1', text: 'blue' });
  await withPhone(
    crashed,
    second,
    async () => expect((await run(crashed, asking(['phone']))).exit.code).toBe(0),
    () => intake(crashed.house),
  );
  expect(second.told.filter(({ kind }) => kind === 'question')).toEqual([]);
  expect(second.told.filter(({ kind }) => kind === 'over')).toHaveLength(1);
  expect(crashed.prompts.filter((prompt) => prompt.includes('blue'))).toHaveLength(1);
  leave(crashed);
  leave(world);
});

test('who steers is told when it stands in a prompt, and who writes nonsense is told that', async () => {
  const world = makeWorld({ tasks: [{ id: 't1' }], play: honest });
  const channel = phone();
  await withPhone(world, channel, async () => {
    send(world, { type: 'STEER', text: 'use bar' });
    send(world, { type: 'STEER', text: 'use bar', target: 'nobody-here' });
    await run(world);
  });
  const handled = channel.told.filter(({ kind }) => kind === 'handled');
  expect(handled.map((news) => news.kind === 'handled' && news.refused).sort()).toEqual([false, true]);
  const delivered = channel.told.filter(({ kind }) => kind === 'delivered');
  expect(delivered).toMatchObject([{ iteration: 1, live: false, message: { text: 'use bar' } }]);
  leave(world);
});

test('what was sent along with a word is named where the word stands', async () => {
  const world = askingWorld();
  await withPhone(world, phone(), async () => {
    send(world, { type: 'STEER', text: 'make it look like this', files: ['attachments/7-sketch.png'] });
    await run(world, asking(['phone']));
  });
  expect(world.prompts[0]).toContain('make it look like this');
  expect(world.prompts[0]).toContain('$RALPH_SESSION_DIR/attachments/7-sketch.png');
  leave(world);
});

test('what was sent along with an answer is named in the answer', async () => {
  const world = askingWorld();
  const channel = phone();
  const { show } = channel;
  channel.show = (news) => {
    if (news.kind === 'question')
      send(world, { type: 'ANSWER', question: 'q1', text: 'as here', files: ['attachments/8-blue.png'] });
    return show(news);
  };
  await withPhone(world, channel, () => run(world, asking(['phone'])));
  const told = world.prompts.filter((prompt) => prompt.includes('as here'));
  expect(told).toHaveLength(1);
  expect(told[0]).toContain('$RALPH_SESSION_DIR/attachments/8-blue.png');
  leave(world);
});

test('a channel that breaks ends neither the run nor the news behind it', async () => {
  const world = askingWorld();
  const channel = phone();
  const { show } = channel;
  channel.show = (news) =>
    news.kind === 'question' ? Promise.reject(new Error('the disk takes no more')) : show(news);
  channel.close = () => Promise.reject(new Error('it cannot be closed'));
  await withPhone(world, channel, () => run(world, asking(['phone'])));
  expect(facts(world, 'question.shown').map(({ reached }) => reached)).toEqual([false]);
  expect(channel.told.at(-1)).toMatchObject({ kind: 'ended', exit: { code: 0 } });
  leave(world);
});

test('a question does not wait behind older news, and old receipts do not fill the memory', async () => {
  const world = askingWorld();
  const channel = phone();
  const { show } = channel;
  let free = () => {};
  const held = new Promise<void>((resolve) => {
    free = resolve;
  });
  channel.show = async (news) => {
    if (news.kind === 'handled') await held;
    return show(news);
  };
  await withPhone(world, channel, async () => {
    for (let n = 0; n < 260; n++) send(world, { type: 'INFO', text: `note ${n}` });
    await run(world, { ...asking(['phone']), wait: false }).catch(() => undefined);
    free();
  });
  const kinds = channel.told.map(({ kind }) => kind);
  expect(kinds.indexOf('question')).toBeLessThanOrEqual(1);
  expect(kinds.length).toBeLessThanOrEqual(202);
  leave(world);
});

test('words that have no room in one prompt stand in the next, and none is lost', async () => {
  const world = makeWorld({ tasks: [{ id: 't1' }, { id: 't2' }, { id: 't3' }], play: honest });
  for (let n = 0; n < 5; n++) send(world, { type: 'STEER', text: `word-${n} ${'x'.repeat(3_900)}` });
  await run(world);
  for (let n = 0; n < 5; n++)
    expect(world.prompts.filter((prompt) => prompt.includes(`word-${n} `))).toHaveLength(1);
  leave(world);
});

test('what an agent told on its way is not told again when its outbox is read after a crash', async () => {
  const progress = { topic: 'interact.progress', payload: 'half way' };
  const world = makeWorld({
    tasks: [{ id: 't1' }],
    play: (seen, w) => ({ ...honest(seen, w), emit: [progress] }),
  });
  const told: unknown[] = [];
  const listen = ({ house }: World) => {
    house.event = (_iteration, event) => void (event.kind === 'progress' && told.push(event.text));
  };
  listen(world);
  await run(world);
  expect(told).toEqual(['half way']);
  const started = world.records.findLast(({ facts: all }) =>
    all.some(({ type }) => type === 'attempt.spawned'),
  )!;
  const crashed = crashedAfter(world, started.seq);
  crashed.outside.outboxes[1] ??= world.outside.outboxes[1]!;
  listen(crashed);
  await run(crashed);
  // Once by the attempt that began anew.
  expect(told).toEqual(['half way', 'half way']);
  leave(crashed);
  leave(world);
});

describe("a wait that is nobody's doing", () => {
  const told = ({ told: news }: ReturnType<typeof phone>) =>
    news.flatMap((one) => (one.kind === 'notice' ? [one.text] : []));

  /** A machine that is full until it was looked at so often. */
  function fullFor(looks: number): World {
    const world = makeWorld({ tasks: [{ id: 't1' }], play: honest });
    world.outside.freeMb.memory = 80;
    const { free } = world.house.host;
    let left = looks;
    world.house.host.free = async (folders) => {
      if (left-- === 0) world.outside.freeMb.memory = 9_000;
      return free(folders);
    };
    return world;
  }

  test.each([
    ['a full machine for half an hour: when it has lasted for minutes, and when it is over', 60, 2],
    ['a full machine for two minutes: not at all', 4, 0],
  ])('%s', async (_, looks, messages) => {
    const world = fullFor(looks);
    const channel = phone();
    const host = { minFreeDiskMb: 0, minFreeMemoryMb: 300 };
    await withPhone(world, channel, async () => {
      const { exit, waits } = await run(world, { host, park: true });
      expect(exit.code).toBe(0);
      expect(waits.length).toBeGreaterThanOrEqual(looks - 1);
    });
    expect(told(channel)).toEqual(
      [
        /^No agent was started since 22:00 UTC: only 80 MB of memory are available, and 300 have to be .* Free some or lower that key; it goes on by itself\.$/,
        /^The machine has enough disk and memory again, after a wait since 22:00 UTC; the work goes on\.$/,
      ]
        .slice(0, messages)
        .map((text) => expect.stringMatching(text)),
    );
    leave(world);
  });

  test.each([
    ["a provider's limit for an hour: when it begins, and when it is over", 3_600_000, 2],
    ["a provider's limit for a minute: not at all", 60_000, 0],
  ])('%s', async (_, lastsMs, messages) => {
    let until = 0;
    const world = makeWorld({
      tasks: [{ id: 't1' }],
      play: (seen, w) =>
        w.outside.now < until
          ? { die: { kind: 'limit', message: 'limit hit', resetsAt: until }, tookMs: 1_000 }
          : honest(seen, w),
    });
    until = world.outside.now + lastsMs;
    const channel = phone();
    await withPhone(world, channel, async () => {
      expect((await run(world, { park: true })).exit.code).toBe(0);
    });
    expect(told(channel)).toEqual(
      [/: limit until 23:00 UTC; the run waits for it\./, / is back: its limit ended at 23:00 UTC\.$/]
        .slice(0, messages)
        .map((text) => expect.stringMatching(text)),
    );
    leave(world);
  });
});
