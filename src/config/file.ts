/**
 * Finding and reading the files of the configuration: the user's, then the project's, each as YAML or
 * TOML, plain UTF-8, of a bounded size. Files that a person may take for the configuration, but that
 * are not read, are told instead of ignored.
 */
import { readFile as readBytes, stat } from 'node:fs/promises';
import { join, posix, win32 } from 'node:path';
import { Problem, type ProblemFacts } from '../core/index.ts';
import { CONFIG_FILE, emptySource, parseSource, type Source, TOML_FILE } from './source.ts';

const LARGEST_BYTES = 1_048_576;
/** Reads one file; rejects with a `code` of ENOENT where there is none. */
export type ReadFile = (path: string) => Promise<Uint8Array | string>;

/** Where one layer of the configuration may lie. Names are what people read, paths what is opened. */
interface Spot {
  yml: string;
  toml: string;
  /** Names that a person may try and that nobody reads, each with the name it should have. */
  misnamed: [string, string][];
  pathOf(name: string): string;
}

/** Finds and parses the project's file. A missing file is an empty one; a misnamed one is a problem. */
export function readProjectSource(projectDir: string, readFile: ReadFile = readBounded): Promise<Source> {
  const misnamed = ['ralph.yaml', '.ralph/ralph.yml', '.ralph/ralph.yaml'];
  return readSpot(
    {
      yml: CONFIG_FILE,
      toml: TOML_FILE,
      misnamed: [...misnamed.map((name): [string, string] => [name, CONFIG_FILE]), ['ralph.toml', TOML_FILE]],
      pathOf: (name) => join(projectDir, name),
    },
    readFile,
  );
}

export interface Machine {
  env: Record<string, string | undefined>;
  platform?: NodeJS.Platform | undefined;
}

/** Finds and parses the file that holds for every project of this user; null where there is no home. */
export async function readUserSource(
  machine: Machine,
  readFile: ReadFile = readBounded,
): Promise<Source | null> {
  const dir = userFolder(machine);
  if (dir === null) return null;
  const inDir = (name: string) => (machine.platform === 'win32' ? win32 : posix).join(dir, name);
  return readSpot(
    {
      yml: inDir('ralph.yml'),
      toml: inDir('ralph.toml'),
      misnamed: [[inDir('ralph.yaml'), inDir('ralph.yml')]],
      pathOf: (name) => name,
    },
    readFile,
  );
}

/**
 * `$XDG_CONFIG_HOME/ralph`, else `~/.config/ralph`; on Windows `%APPDATA%\ralph`. A relative base
 * directory counts as unset, as the XDG Base Directory Specification has it. Only the environment is
 * asked, so that a run in a clean one reads nobody's file.
 */
export function userFolder({ env, platform = process.platform }: Machine): string | null {
  if (platform === 'win32') return env.APPDATA ? win32.join(env.APPDATA, 'ralph') : null;
  const { XDG_CONFIG_HOME: base, HOME: home } = env;
  if (base?.startsWith('/')) return posix.join(base, 'ralph');
  return home?.startsWith('/') ? posix.join(home, '.config', 'ralph') : null;
}

async function readSpot(spot: Spot, readFile: ReadFile): Promise<Source> {
  const attempt = (name: string) => readIfThere(spot.pathOf(name), name, readFile);
  const yml = await attempt(spot.yml);
  const toml = await attempt(spot.toml);
  const problems: ProblemFacts[] = yml !== null && toml !== null ? [twoFiles(spot.yml, spot.toml)] : [];
  for (const [name, right] of spot.misnamed) {
    if ((await attempt(name)) === null) continue;
    const read = yml !== null ? spot.yml : toml !== null ? spot.toml : null;
    problems.push(read === null ? wrongName(name, right) : twoFiles(read, name));
  }
  const source =
    yml !== null
      ? parseSource(yml, spot.yml)
      : toml !== null
        ? (await import('./toml.ts')).parseTomlSource(toml, spot.toml)
        : emptySource(spot.yml);
  return { ...source, problems: [...problems, ...source.problems] };
}

function twoFiles(read: string, other: string): ProblemFacts {
  return {
    code: 'config.two_files',
    at: other,
    what: `Both ${read} and ${other} are there`,
    why: 'One of them would be ignored without a word, and you would not see which.',
    fix: `Keep one: move what you need into ${read} and remove ${other}.`,
  };
}

function wrongName(name: string, right: string): ProblemFacts {
  return {
    code: 'config.wrong_name',
    at: name,
    what: `The configuration is in ${name}`,
    why: `Only ${right} is read, so ${name} would be ignored without a word.`,
    fix: `Rename it: mv ${name} ${right}`,
  };
}

/** The text of a file, or null where there is none. Throws a Problem for what is no bounded UTF-8 text. */
export async function readIfThere(
  path: string,
  name: string,
  readFile: ReadFile = readBounded,
): Promise<string | null> {
  let content: Uint8Array | string;
  try {
    content = await readFile(path);
  } catch (error) {
    if (error instanceof Oversize) throw tooLarge(name, error.bytes);
    const code = (error as { code?: unknown } | null)?.code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new Problem({
      code: 'config.unreadable',
      at: name,
      what: `${name} cannot be read`,
      why: error instanceof Error ? error.message : String(error),
      fix: 'Make it a plain file that you may read, or remove it.',
    });
  }
  const bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
  if (bytes > LARGEST_BYTES) throw tooLarge(name, bytes);
  return typeof content === 'string' ? content : decode(content, name);
}

class Oversize extends Error {
  readonly bytes: number;

  constructor(bytes: number) {
    super('too large');
    this.bytes = bytes;
  }
}

function tooLarge(name: string, bytes: number): Problem {
  return new Problem({
    code: 'config.too_large',
    at: name,
    what: `${name} is larger than 1 MB (${bytes} bytes)`,
    why: 'A configuration is a few screens long; a file of this size is most likely something else.',
    fix: 'Move long texts into files of their own and name those files.',
  });
}

function decode(content: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new Problem({
      code: 'config.encoding',
      at: name,
      what: `${name} is not UTF-8 text`,
      why: 'Configuration is read as UTF-8; other encodings would change your words.',
      fix: 'Save the file as UTF-8 in your editor.',
    });
  }
}

/** Looks before it reads: a pipe would never end, and a huge file need not be in memory to be refused. */
async function readBounded(path: string): Promise<Uint8Array> {
  const found = await stat(path);
  if (!found.isFile()) throw new Error('It is not a plain file.');
  if (found.size > LARGEST_BYTES) throw new Oversize(found.size);
  return readBytes(path);
}
