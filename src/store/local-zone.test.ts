import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { localZone } from './local-zone.ts';
import { wallTime } from './zone.ts';

const before = process.env.TZ;
afterEach(() => {
  if (before === undefined) delete process.env.TZ;
  else process.env.TZ = before;
});

it.each([
  ['Europe/Berlin', 'Europe/Berlin'],
  [':Europe/Berlin', 'Europe/Berlin'],
  [':/usr/share/zoneinfo/America/Argentina/Ushuaia', 'America/Argentina/Ushuaia'],
  ['posix/Asia/Kolkata', 'Asia/Kolkata'],
  ['Etc/GMT', 'UTC'],
  ['Zulu', 'UTC'],
  ['Africa/Abidjan', 'Africa/Abidjan'],
  ['US/Pacific', 'America/Los_Angeles'],
  ['Europe/Nowhere', 'UTC'],
  ['../../etc/passwd', 'UTC'],
  ['', 'UTC'],
])('TZ=%s is the zone %s', (setting, zone) => {
  process.env.TZ = setting;
  expect(localZone()).toBe(zone);
  expect(() => Intl.DateTimeFormat('en', { timeZone: localZone() })).not.toThrow();
});

it('without TZ it is the zone that Node itself works in', () => {
  delete process.env.TZ;
  const offset = (zone: string) =>
    new Date().toLocaleTimeString('en', { timeZone: zone, timeStyle: 'short' });
  expect(offset(localZone())).toBe(new Date().toLocaleTimeString('en', { timeStyle: 'short' }));
});

it.each(['UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Africa/Monrovia'])(
  'a clock in %s shows the same whether it is the local zone or not',
  (zone) => {
    const at = fc.integer({ min: 0, max: Date.UTC(2200, 0) });
    process.env.TZ = 'Asia/Tokyo';
    const shown = fc.sample(at, 300).map((one) => ({ one, text: intl(one, zone) }));
    process.env.TZ = zone;
    for (const { one, text } of shown) {
      const { year, month, day, hour, minute, second } = wallTime(one, zone);
      expect(`${month}/${day}/${year} ${hour}:${minute}:${second}`).toBe(text);
    }
  },
);

function intl(at: number, zone: string): string {
  const format = Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  const [month, day, , hour, minute, second] = format
    .formatToParts(at)
    .filter(({ type }) => type !== 'literal')
    .map(({ value }) => Number(value));
  const year = Intl.DateTimeFormat('en-US', { timeZone: zone, year: 'numeric' }).format(at);
  return `${month}/${day}/${year} ${hour}:${minute}:${second}`;
}
