/**
 * What the exit code of a shell line tells of the commands in it. `npm test || true` ends with 0 whatever
 * `npm test` did: only where the line's code can be the code of one command alone, or where each had to end
 * with 0 for the whole to do so, it is known. In doubt it is not.
 */
import { type Pipeline, readShell, type ShellItem } from './shell-line.ts';

/** One simple command of a line, without what is put before it, as `env` or `timeout`, and where its output goes. */
export interface RanCommand {
  command: string;
  /** null: nobody knows, or it may not have run. */
  exitCode: number | null;
}

/** The simple commands of a line that ended with this code; null where the line cannot be read. */
export function ranIn(line: string, code: number | null): RanCommand[] | null {
  const list = readShell(line);
  if (list === null) return null;
  const ran: RanCommand[] = [];
  walkList(
    list,
    { code, certain: true, tried: false },
    { errexit: false, pipefail: false, lost: false, ran },
  );
  // A trap can end the shell with any code.
  return ran.some(({ command }) => /^trap\b/.test(command))
    ? ran.map(({ command }) => ({ command, exitCode: null }))
    : ran;
}

/** The commands a line consists of where it runs one after the other as long as they succeed; null for every other line. */
export function chainOf(line: string): string[] | null {
  const list = readShell(line);
  if (list?.length !== 1 || list[0]!.background || list[0]!.joints.includes('||')) return null;
  const commands: string[] = [];
  for (const { negated, parts } of list[0]!.chain) {
    const [part] = parts;
    if (negated || parts.length > 1 || part?.kind !== 'simple') return null;
    const command = plainWords(part.words);
    if (command !== '') commands.push(command);
  }
  const work = commands.filter((command) => !SETUP.test(command));
  return work.length > 0 ? work : commands;
}

/** Whether a line ends with the same code whatever its commands do, or cannot be read. */
export function tellsNothing(line: string): boolean {
  const list = readShell(line);
  const item = list?.at(-1);
  const pipe = item?.chain.at(-1);
  const last = pipe?.parts.at(-1);
  if (list === null || item === undefined || pipe === undefined || last === undefined) return true;
  if (item.background) return true;
  if (last.kind !== 'simple') return false;
  const piped = pipe.parts.length > 1;
  const alone = !piped && item.chain.length === 1 && list.length === 1;
  if (alone || (piped && /\bpipefail\b/.test(line)) || (!piped && item.joints.at(-1) === '&&')) return false;
  return MUTE.test(plainWords(last.words));
}

/** Gets ready and does no work that could be claimed. */
const SETUP = /^(?:cd|pushd|popd|export|set|unset|umask|echo|printf|true|:|pwd|source|\.)(?:\s|$)/;
/** Fails only where the shell says so. */
const SURE = /^(?:cd|pushd|popd|export|set|unset|umask|echo|printf|true|:|pwd)(?:\s|$)/;
/** Its code says nothing of what ran before it. */
const MUTE =
  /^(?:true|:|echo|printf|exit 0|tail|head|cat|tee|less|more|sort|uniq|wc|sed|awk|cut|tr|column|sleep|date|pwd|rm|wait)(?:\s|$)/;
/** What stands behind it may not run although the line ends with 0, or may be another program. */
const HAZARD = /^(?:exit|exec|return|eval|alias|unalias|builtin|enable|hash|kill|break|continue)(?:\s|$)/;

interface Shell {
  errexit: boolean;
  pipefail: boolean;
  /** Nothing that follows is known. */
  lost: boolean;
  ran: RanCommand[];
}

interface Ended {
  code: number | null;
  /** It ran for sure, or its code is known. */
  certain: boolean;
  /** It stands before `&&` or `||`, where `set -e` ends nothing. */
  tried: boolean;
}

function walkList(list: readonly ShellItem[], { code, certain, tried }: Ended, shell: Shell): void {
  for (const [at, item] of list.entries()) {
    const last = at === list.length - 1;
    const strict = shell.errexit && !tried;
    const single = item.chain.length === 1 && !item.chain[0]!.negated;
    let own: number | null = null;
    if (item.background) own = null;
    else if (last) own = strict && code !== 0 && list.slice(0, at).some(mayFail) ? null : code;
    else if (strict && code === 0 && single) own = 0;
    walkChain(item, { code: own, certain: certain && !item.background, tried }, shell);
  }
}

const mayFail = (item: ShellItem) => !item.chain.every(isSure);

function isSure({ negated, parts }: Pipeline): boolean {
  return !negated && parts.every((part) => part.kind === 'simple' && SURE.test(plainWords(part.words)));
}

function walkChain({ chain, joints }: ShellItem, { code, certain, tried }: Ended, shell: Shell): void {
  const together = !joints.includes('||');
  for (const [at, pipe] of chain.entries()) {
    const last = at === chain.length - 1;
    let own: number | null = null;
    if (together && code === 0) own = 0;
    else if (code !== null && chain.length === 1) own = code;
    else if (code !== null && code !== 0) {
      // Behind `||` it ran, and failed; else only where nothing beside it could have failed.
      const alone = together && chain.every((other, place) => place === at || isSure(other));
      if (alone || (last && joints.at(-1) === '||')) own = code;
    }
    const sure = certain && (chain.length === 1 || at === 0 || own === 0);
    walkPipeline(pipe, { code: own, certain: sure, tried: tried || !last }, shell);
  }
}

function walkPipeline({ negated, parts }: Pipeline, { code, certain, tried }: Ended, shell: Shell): void {
  const piped = parts.length > 1;
  for (const [at, part] of parts.entries()) {
    let own = at === parts.length - 1 ? code : null;
    if (negated) own = null;
    else if (piped && shell.pipefail) own = code === 0 ? 0 : null;
    if (part.kind === 'simple') {
      const command = plainWords(part.words);
      shell.ran.push({ command, exitCode: shell.lost ? null : own });
      if (!piped) hearShell(command, certain, shell);
    } else if (part.kind === 'group' && !piped)
      walkList(part.list, { code: own, certain, tried: tried || negated }, shell);
    else walkList(part.list, { code: own, certain, tried: tried || negated }, { ...shell });
  }
}

/** What a command changes for those behind it. */
function hearShell(command: string, certain: boolean, shell: Shell): void {
  if (HAZARD.test(command)) shell.lost = true;
  if (!command.startsWith('set ')) return;
  const words = command.split(' ').slice(1);
  for (const [at, word] of words.entries()) {
    const on = word.startsWith('-');
    if (!(on && certain) && !word.startsWith('+')) continue;
    const option = /^[-+]\w*o$/.test(word) ? words[at + 1] : '';
    if (option === 'pipefail') shell.pipefail = on;
    if (option === 'errexit' || /^[-+]\w*e/.test(word)) shell.errexit = on;
  }
}

const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;
/** Programs that run another one and end as it does, with how many of their options take a word. */
const BEFORE: Record<string, RegExp> = {
  env: /^-(?:u|C|S)$/,
  timeout: /^-(?:k|s)$/,
  gtimeout: /^-(?:k|s)$/,
  nice: /^-n$/,
  sudo: /^-(?:u|g)$/,
  stdbuf: /^$/,
  time: /^-(?:f|o)$/,
  command: /^$/,
  nohup: /^$/,
  exec: /^$/,
};

/** The command itself: without assignments, `env`, `timeout 60` and the like before it. */
export function plainWords(all: readonly string[]): string {
  let words = [...all];
  for (;;) {
    const [first = ''] = words;
    // With another search path it may be another program.
    if (/^PATH=/.test(first)) break;
    if (ASSIGNMENT.test(first) && words.length > 1) {
      words = words.slice(1);
      continue;
    }
    const valued = Object.hasOwn(BEFORE, first) ? BEFORE[first]! : null;
    if (valued === null) break;
    let at = 1;
    while (words[at]?.startsWith('-')) at += valued.test(words[at]!) ? 2 : 1;
    if (first.endsWith('timeout')) at++;
    if (at >= words.length) break;
    // `exec npm test` is followed by nothing.
    if (first === 'exec') return `exec ${plainWords(words.slice(at))}`;
    words = words.slice(at);
  }
  return words.join(' ');
}
