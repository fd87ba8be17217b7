/** The floor plan: which rooms there are, what each is for, and how a file's room is told from its path. */

export interface Room {
  name: string;
  /** A room imports rooms on lower floors only. */
  floor: number;
  meaning: string;
}

export const ROOMS: readonly Room[] = [
  { name: 'core', floor: 0, meaning: 'the law, pure: facts, state, decide, judge, correct, limits, prompts' },
  { name: 'process', floor: 0, meaning: 'runs one child process and leaves none behind' },
  { name: 'views', floor: 1, meaning: 'windows, pure: what people read of a journal' },
  { name: 'dialects', floor: 2, meaning: 'translators, pure: task files and the files of other tools' },
  { name: 'engine', floor: 2, meaning: 'the hands: turn, intake, recover, perform, and every port' },
  { name: 'agents', floor: 3, meaning: 'workers: one file per agent CLI' },
  { name: 'channels', floor: 3, meaning: 'messengers: telegram, webhook, desktop' },
  { name: 'store', floor: 3, meaning: 'cellar: journal, mailbox, lock, works' },
  { name: 'repo', floor: 3, meaning: 'ground: snapshots, changes, commits' },
  { name: 'config', floor: 3, meaning: 'contract: ralph.yml or ralph.toml to policy and settings' },
  { name: 'fleet', floor: 4, meaning: 'neighbours: many sessions on one repository' },
  { name: 'app', floor: 5, meaning: 'wiring: the only place that knows every room, and the use cases' },
  { name: 'cli', floor: 6, meaning: 'front: the command line' },
  { name: 'tui', floor: 6, meaning: 'front: the terminal view' },
  { name: 'web', floor: 6, meaning: 'front: the web page' },
  { name: 'agentside', floor: 6, meaning: 'front for agents: emit on built-ins only, tools, the MCP server' },
];

/** Rooms that know no clock, disk, network or chance. */
export const PURE_ROOMS = ['core', 'views', 'dialects'];

/** The packages a pure room may still import: they compute and touch nothing. */
export const PURE_PACKAGES: Record<string, readonly string[]> = { dialects: ['yaml'] };

/** Doors beside `index.ts`: the version is told, and secrets are hidden, without loading the room behind it. */
export const SIDE_DOORS = ['src/app/product.ts', 'src/app/secrets.ts'];

/** The command line is the entry to the other fronts: it may open them, lazily. */
export const LAZY_FRONTS: Record<string, readonly string[]> = { cli: ['agentside', 'tui', 'web'] };

/** `src/core/decide.ts` → the core room; undefined for a file outside every room. */
export function roomOf(path: string): Room | undefined {
  const [top, name] = path.split('/');
  return top === 'src' ? ROOMS.find((room) => room.name === name) : undefined;
}
