/** News and windows as the words of the chat: HTML of our own around escaped words of others, with buttons. */

import { loopCommand, type Question } from '../core/index.ts';
import type { News, NewsContext } from '../engine/index.ts';
import { oneLine } from '../views/index.ts';
import { bounded, escapeHtml, MESSAGE_UNITS, plainOf, splitEscaped } from './telegram-text.ts';

export interface Button {
  text: string;
  /** At most 64 bytes. */
  data: string;
}

/** A message in parts; buttons stand under the last one. */
export interface Words {
  parts: string[];
  buttons: Button[];
  /** The phone makes no sound. */
  silent: boolean;
}

/** A command as it means the loop of this news. */
const inContext = (command: string, { loop }: NewsContext): string =>
  loopCommand(loop === 'main' ? null : loop, command);

/** Room that a question's last part leaves for what became of it. */
const OUTCOME_UNITS = 600;
const BUTTON_UNITS = 60;

/** What a question looks like; the same question always looks the same, so that it can be edited after a restart. */
export function questionWords(question: Question, context: NewsContext, repeat: boolean): Words {
  const { id, kind, about, text, options } = question;
  const what = kind === 'blocker' ? '🚧 Blocked' : '❓ Question';
  const subject = about === 'session' ? '' : ` about ${about}`;
  const head = `${what} ${id}${repeat ? ' (again)' : ''} · ${kind}${subject}`;
  const lines = [
    head,
    '',
    bounded(text, `the rest stands in \`${inContext('ralph inbox', context)}\``),
    ...options.slice(0, 26).map(({ key, text: words }) => `${key}) ${oneLine(words, 500)}`),
    '',
    ...silenceOf(question),
    `Reply to this message to answer${options.length > 0 || kind === 'approval' ? ', or press a button' : ''}.`,
    `[${whereFrom(context)}]`,
  ];
  return {
    parts: splitEscaped(lines.join('\n'), MESSAGE_UNITS - OUTCOME_UNITS),
    buttons: buttonsOf(question, context.sessionId),
    silent: false,
  };
}

/** The first words of a question, as `isQuestionText` knows them again. */
export function isQuestionText(text: string): boolean {
  return /^(?:🚧 Blocked|❓ Question) /u.test(text);
}

/**
 * Whether a message of this text is the first of those that ask this question. Where in the loop it was asked stands
 * in the last line and is not compared; the loop is.
 */
export function asksSo(text: string, question: Question, context: NewsContext): boolean {
  return [false, true].some((repeat) => {
    const [first = ''] = questionWords(question, context, repeat).parts;
    return besidesPlace(plainOf(first)) === besidesPlace(text);
  });
}

const besidesPlace = (text: string): string =>
  text.trim().replace(/\n(\[loop [^\n]*?)(?: · [^\n]*)?\]$/u, '\n$1');

const SILENCE: Record<Question['onTimeout'], string> = {
  proceed: 'the work goes on without an answer',
  default: 'the default is taken',
  carry: 'it is carried into the next cycle',
  re_ask: 'it is asked again',
  stop: 'the run stops',
};

function silenceOf({ default: usual, deadline, onTimeout }: Question): string[] {
  const lines = usual === null ? [] : [`Default: ${oneLine(usual, 500)}`];
  if (deadline === null) return lines;
  const when = new Date(deadline).toISOString().slice(0, 16).replace('T', ' ');
  return [...lines, `Until ${when} UTC; then ${SILENCE[onTimeout]}.`];
}

function whereFrom({ loop, role, iteration, task }: NewsContext): string {
  const parts = [`loop ${loop}`, role, iteration === null ? null : `iteration ${iteration}`, task];
  return parts
    .filter((one) => one !== null)
    .map((one) => oneLine(one, 80))
    .join(' · ');
}

/** What a press says: `q|session|question|option's place`, or `approve` or `skip` in its place. */
function buttonsOf({ id, kind, options }: Question, session: string): Button[] {
  const data = (choice: string | number) => `q|${session}|${id}|${choice}`;
  const choices =
    options.length === 0 && kind === 'approval'
      ? [
          { text: 'Approve', data: data('approve') },
          { text: 'Skip', data: data('skip') },
        ]
      : options.slice(0, 26).map(({ key, text }, place) => ({
          text: oneLine(`${key}) ${text}`, BUTTON_UNITS),
          data: data(place),
        }));
  return choices.every((one) => Buffer.byteLength(one.data) <= 64) ? choices : [];
}

/** One button a row: texts are long and phones are narrow. */
export function keyboard(buttons: Button[]): {
  inline_keyboard: { text: string; callback_data: string }[][];
} {
  return { inline_keyboard: buttons.map(({ text, data }) => [{ text, callback_data: data }]) };
}

type Over = Extract<News, { kind: 'over' }>;

/** The last part of a question that is over, with who answered what. */
export function overPart(news: Over): string {
  return `${questionWords(news.question, news.context, false).parts.at(-1)!}\n\n<b>${escapeHtml(outcome(news))}</b>`;
}

/** In one sentence, at most 450 units unescaped. */
export function outcome({ how, text, by }: Pick<Over, 'how' | 'text' | 'by'>): string {
  const said = oneLine(text, 300);
  if (how === 'answered') return `✅ Answered by ${nameOf(by)}: ${said}`;
  return how === 'expired' ? `⌛ No answer came: ${said}` : `Closed: ${said}`;
}

/** `telegram:123 (Ann)` → Ann; others as they are. */
export function nameOf(by: string | null): string {
  return oneLine(/^telegram:-?\d+ \((.*)\)$/.exec(by ?? '')?.[1] ?? by ?? 'somebody', 80);
}

type Plain = Exclude<News, { kind: 'question' | 'over' | 'delivered' | 'handled' }>;

/** News that nobody has to answer. */
export function newsWords(news: Plain): Words {
  const { line, silent } = lineOf(news);
  const text = bounded(line, `the rest stands in \`${inContext('ralph why session', news.context)}\``);
  return plainWords(`${text}\n[${whereFrom(news.context)}]`, silent);
}

const MARK = { info: 'ℹ️', warning: '⚠️', critical: '🛑' };

function lineOf(news: Plain): { line: string; silent: boolean } {
  switch (news.kind) {
    case 'notice':
      return { line: `${MARK[news.level]} ${news.text}`, silent: news.level === 'info' };
    case 'progress':
      return { line: `▸ ${news.text}`, silent: true };
    case 'paused':
      return { line: `⏸ Paused by ${nameOf(news.by)}${because(news.text)}. /resume goes on.`, silent: true };
    case 'resumed':
      return { line: `▶️ Resumed by ${nameOf(news.by)}${because(news.text)}.`, silent: true };
    case 'ended': {
      const { code, word, reason } = news.exit;
      const mark = code === 0 ? '✅' : code === 7 ? '⏹' : '🔚';
      return { line: `${mark} The run ended: ${word} (exit ${code}). ${reason}`, silent: false };
    }
    default: {
      const never: never = news;
      throw new Error(`unknown news ${JSON.stringify(never)}`);
    }
  }
}

const because = (text: string): string => (text.trim() === '' ? '' : `: ${oneLine(text, 500)}`);

/** A text of ours or of others in as many parts as it needs. */
export function plainWords(text: string, silent = true): Words {
  return { parts: splitEscaped(text, MESSAGE_UNITS), buttons: [], silent };
}

/** A window: its columns stand below each other. */
export function windowWords(text: string): Words {
  const shown = bounded(text.trimEnd() || '(nothing)', 'see it whole at a terminal');
  const parts = splitEscaped(shown, MESSAGE_UNITS - 20).map((part) => `<pre>${part}</pre>`);
  return { parts, buttons: [], silent: true };
}

/** The bot's commands with what they do, in the order they are listed. */
export const COMMANDS: [name: string, does: string][] = [
  ['status', 'where the session stands'],
  ['tasks', 'the task list'],
  ['memories', 'what is remembered'],
  ['tail', 'the last lines of the running iteration'],
  ['pause', 'start nothing new and end what runs, uncharged'],
  ['resume', 'go on'],
  ['restart', 'stop at the next boundary and start again'],
  ['stop', 'stop at the next boundary'],
  ['abort', 'end now and for good (asks again)'],
  ['help', 'this list'],
];

/** What can be said here. `loops`: the one that hears, then the others that run. */
export function helpText(loops: readonly string[]): string {
  const [own = '', ...others] = loops.map((loop) => oneLine(loop, 80));
  const names =
    others.length === 0
      ? `@${own} in front names the loop it is for.`
      : `@${others[0]} in front names the loop it is for, also behind a command; without a name it is for @${own}. These run now: ${[own, ...others].map((loop) => `@${loop}`).join(', ')}.`;
  return [
    `Ralph, loop ${own}.`,
    '',
    ...COMMANDS.map(([name, does]) => `/${name} ${does}`),
    '',
    'Reply to a question to answer it. Everything else you write guides the work: it stands in the next prompt (👀 received, 👍 delivered).',
    names,
  ].join('\n');
}
