/** Where a program is, and how a command line reaches the platform's spawn. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

const isWindows = process.platform === 'win32';

/** Full path of a program on the PATH of `env`, or of a path that is given; null: there is none to run. */
export function findProgram(name: string, env: Record<string, string | undefined>): string | null {
  if (name === '' || name.includes('\0')) return null;
  const endings = isWindows ? windowsEndings(name, env) : [''];
  if (isAbsolute(name) || name.includes('/') || (isWindows && name.includes('\\'))) {
    return firstProgram(endings.map((ending) => name + ending));
  }
  const folders = (pathOf(env) ?? '').split(delimiter);
  return firstProgram(
    folders.flatMap((folder) => endings.map((ending) => join(folder === '' ? '.' : folder, name + ending))),
  );
}

/** Windows writes it `Path`, and spells of it may differ. */
function pathOf(env: Record<string, string | undefined>): string | undefined {
  if (!isWindows) return env.PATH;
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATH');
  return key === undefined ? undefined : env[key];
}

function windowsEndings(name: string, env: Record<string, string | undefined>): string[] {
  const endings = (env.PATHEXT ?? '.COM;.EXE;.BAT;.CMD').split(';').filter((ending) => ending !== '');
  const hasEnding = endings.some((ending) => name.toLowerCase().endsWith(ending.toLowerCase()));
  return hasEnding ? ['', ...endings] : endings;
}

function firstProgram(paths: string[]): string | null {
  return paths.find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    if (!statSync(path).isFile()) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What `spawn` is called with. */
export interface SpawnCommand {
  file: string;
  args: string[];
  shell: boolean;
  verbatim: boolean;
}

/** Windows cannot start a .cmd or .bat file by itself: cmd.exe has to, with its own quoting. */
export function spawnCommand(
  command: string[] | { shell: string },
  env: Record<string, string>,
  onWindows: boolean = isWindows,
): SpawnCommand {
  if (!Array.isArray(command)) return { file: command.shell, args: [], shell: true, verbatim: false };
  const [name = '', ...args] = command;
  const found = onWindows ? (findProgram(name, env) ?? name) : name;
  if (!onWindows || !/\.(cmd|bat)$/i.test(found)) return { file: found, args, shell: false, verbatim: false };
  const line = [found, ...args].map(quoteForCmd).join(' ');
  const file = env.ComSpec ?? env.COMSPEC ?? 'cmd.exe';
  return { file, args: ['/d', '/s', '/c', `"${line}"`], shell: false, verbatim: true };
}

/** Quotes for the C runtime, then hides cmd's own signs twice: the batch file reads its line again. */
function quoteForCmd(argument: string): string {
  const quoted = `"${argument.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, '$1$1')}"`;
  const hidden = quoted.replace(/([()\][%!^"`<>&|;, *?])/g, '^$1');
  return hidden.replace(/([()\][%!^"`<>&|;, *?])/g, '^$1');
}
