/**
 * The file of an import: read within bounds, and refused with the reason where it is no task list but
 * the settings or the run state of another loop.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { nearest, Problem } from '../core/index.ts';
import { isForeignState, readForeignState, readShellSettings } from '../dialects/index.ts';

/** Largest file that is read. Bytes. */
const MOST_BYTES = 10 * 1024 * 1024;

/** The file's text, with a byte-order mark where it has one. Links are followed; `path` names it in a Problem. */
export async function sourceText(file: string, path: string): Promise<string> {
  const facts = await stat(file).catch((error: unknown) => error as NodeJS.ErrnoException);
  if (facts instanceof Error)
    throw codeOf(facts) === 'ENOENT' ? await missing(file, path) : denied(path, facts);
  if (!facts.isFile()) {
    const what = `${path} is ${facts.isDirectory() ? 'a folder' : 'a device or pipe'}, not a file.`;
    const why = 'A task list is one file.';
    throw new Problem({ code: 'import.not_a_file', what, why, fix: 'Name the file in it.', at: path });
  }
  if (facts.size > MOST_BYTES) {
    throw new Problem({
      code: 'tasks.too_large',
      what: `${path} is too large.`,
      why: `It has ${(facts.size / 1024 / 1024).toFixed(1)} MB; at most 10 MB are read.`,
      fix: 'Move finished tasks into another file.',
      at: path,
    });
  }
  const bytes = await readFile(file).catch((error: Error) => {
    throw denied(path, error);
  });
  return decoded(bytes, path);
}

function decoded(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const why = 'It is not UTF-8 text, so what it says would be a guess.';
    const what = `${path} cannot be read as text.`;
    throw new Problem({ code: 'tasks.encoding', what, why, fix: 'Save it as UTF-8.', at: path });
  }
}

function denied(path: string, error: Error): Problem {
  const fix = `Give yourself the right to read it: chmod u+r ${path}`;
  return new Problem({
    code: 'tasks.denied',
    what: `${path} cannot be read.`,
    why: error.message,
    fix,
    at: path,
  });
}

async function missing(file: string, path: string): Promise<Problem> {
  const beside = await readdir(dirname(file)).catch(() => []);
  const near = nearest(basename(file), beside);
  const fix =
    near === null
      ? 'Check the name; relative names are looked for in the folder you call from.'
      : `Did you mean ${shownBeside(path, near)}?`;
  return new Problem({
    code: 'import.missing',
    what: `${path} is not there.`,
    why: 'It is to be read.',
    fix,
    at: path,
  });
}

function shownBeside(path: string, name: string): string {
  const folder = dirname(path);
  return folder === '.' ? name : `${folder}/${name}`;
}

/** Throws for settings and run state of other loops: they are no lists, and a reading as one would only find nothing. */
export function refuseOtherFiles(path: string, text: string): void {
  const state = isForeignState(path) ? readForeignState(path, text) : null;
  if (state !== null) {
    throw new Problem({
      code: 'import.run_state',
      what: `${path} is ${state.meaning}, not a task list${state.says === '' ? '' : ` (${state.says})`}.`,
      why: 'The state of another loop’s run is shown and never used: nobody can say whether it is still true.',
      fix: 'Import the task list that the other loop worked on.',
      at: path,
    });
  }
  if (!/(^|\/)\.?ralphrc$|\.(?:env|sh|rc)$/.test(path)) return;
  const { settings } = readShellSettings(path, text);
  const shown = settings.slice(0, 6).map(({ key, value }) => `${key}=${value.slice(0, 40)}`);
  throw new Problem({
    code: 'import.settings',
    what: `${path} holds settings, not tasks${shown.length === 0 ? '' : `: ${shown.join(', ')}`}.`,
    why: 'Such files are read as KEY=value and never run; what they say belongs into ralph.yml.',
    fix: 'Write what you want to keep into ralph.yml; `ralph init` proposes one.',
    at: path,
  });
}

/** The text of a file that may not be there. */
export async function present(file: string, path: string): Promise<string | null> {
  try {
    return decoded(await readFile(file), path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return null;
    if (error instanceof Problem) throw error;
    throw denied(path, error as Error);
  }
}

/** The `code` of a system error; empty for any other. */
export function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? '');
}
