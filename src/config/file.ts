/**
 * Finding and reading the project's configuration: one name, plain UTF-8, a bounded size. Files that a
 * person may take for the configuration, but that are not read, are told instead of ignored.
 */
import { readFile as readBytes, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem, type ProblemFacts } from '../core/index.ts';
import { CONFIG_FILE, emptySource, parseSource, type Source } from './source.ts';

const TOML_FILE = '.ralph/ralph.toml';
const MISNAMED = ['ralph.yaml', '.ralph/ralph.yml', '.ralph/ralph.yaml'];

const LARGEST_BYTES = 1_048_576;
/** Reads one file; rejects with a `code` of ENOENT where there is none. */
export type ReadFile = (path: string) => Promise<Uint8Array | string>;

/** Finds and parses the project's file. A missing file is an empty one; a misnamed one is a problem. */
export async function readSource(projectDir: string, readFile: ReadFile = readBounded): Promise<Source> {
  const attempt = (name: string) => readIfThere(join(projectDir, name), name, readFile);
  const own = await attempt(CONFIG_FILE);
  const others: string[] = [];
  for (const name of [TOML_FILE, ...MISNAMED]) {
    if ((await attempt(name)) !== null) others.push(name);
  }
  const problems = others.map((name) => strayFile(name, own !== null));
  const source = own === null ? emptySource() : parseSource(own);
  return { ...source, problems: [...problems, ...source.problems] };
}

function strayFile(name: string, beside: boolean): ProblemFacts {
  const both = beside ? `Both ${CONFIG_FILE} and ${name} are there` : `The configuration is in ${name}`;
  const toml = name.endsWith('.toml');
  return {
    code: beside ? 'config.two_files' : toml ? 'config.toml' : 'config.wrong_name',
    at: name,
    what: both,
    why: toml
      ? `TOML is not read yet; the project is configured in ${CONFIG_FILE}, which has the same keys.`
      : `Only ${CONFIG_FILE} in the project's folder is read, so ${name} would be ignored without a word.`,
    fix: beside
      ? `Keep one: move what you need into ${CONFIG_FILE} and remove ${name}.`
      : toml
        ? `Write its keys to ${CONFIG_FILE} as YAML and remove ${name}.`
        : `Rename it: mv ${name} ${CONFIG_FILE}`,
  };
}

async function readIfThere(path: string, name: string, readFile: ReadFile): Promise<string | null> {
  let content: Uint8Array | string;
  try {
    content = await readFile(path);
  } catch (error) {
    if (error instanceof Problem) throw error;
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
      why: 'YAML is read as UTF-8; other encodings would change your words.',
      fix: 'Save the file as UTF-8 in your editor.',
    });
  }
}

/** Looks before it reads: a pipe would never end, and a huge file need not be in memory to be refused. */
async function readBounded(path: string): Promise<Uint8Array> {
  const found = await stat(path);
  if (!found.isFile()) throw new Error('It is not a plain file.');
  if (found.size > LARGEST_BYTES) throw tooLarge(path.split(/[\\/]/).pop()!, found.size);
  return readBytes(path);
}
