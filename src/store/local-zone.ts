/**
 * The machine's time zone. The environment and a link in `/etc` tell it for nothing; asking `Intl` for
 * it loads tables that cost a start more than all else that it reads.
 */
import { readlinkSync } from 'node:fs';

/** Names that `Intl` knows under any version. Others, such as `EST5EDT`, it translates. */
const PLAIN =
  /^(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific)(?:\/[A-Z][\w+-]*)+$/;
const UTC = /^(?:UTC|(?:Etc\/)?(?:UTC|UCT|Zulu|GMT|Universal|Greenwich))$/;

let known: { setting: string | undefined; zone: string } | null = null;

/** The time zone of this process by its IANA name; `UTC` where the machine names none that is known. */
export function localZone(): string {
  const setting = process.env.TZ;
  if (known === null || known.setting !== setting) {
    known = { setting, zone: plainZone(setting ?? linkedZone()) ?? zoneOfIntl() };
  }
  return known.zone;
}

/** The name in a setting such as `Europe/Berlin`, `:Europe/Berlin` or a path into the zone files; null: ask. */
function plainZone(setting: string | null): string | null {
  const name = (setting ?? '')
    .replace(/^:/, '')
    .replace(/^.*\/zoneinfo\//, '')
    .replace(/^posix\//, '');
  if (UTC.test(name)) return 'UTC';
  return PLAIN.test(name) && clockMoves() ? name : null;
}

function linkedZone(): string | null {
  try {
    const target = readlinkSync('/etc/localtime');
    return target.includes('/zoneinfo/') ? target : null;
  } catch {
    return null; // no link, as on Windows
  }
}

/** A zone that Node does not know leaves its clock at UTC, all year. */
function clockMoves(): boolean {
  const year = new Date().getUTCFullYear();
  return [0, 6].some((month) => new Date(Date.UTC(year, month)).getTimezoneOffset() !== 0);
}

function zoneOfIntl(): string {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return zone === undefined || zone === 'Etc/Unknown' ? 'UTC' : zone;
}
