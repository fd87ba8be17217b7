/**
 * What a checklist line says besides its title: an id, a priority, dependencies. Whoever writes no id
 * gets one that is made of the title, so it stays the same however the line is marked or moved.
 */
import { DEPENDS, NEEDS, priorityPhrase } from './property-words.ts';
import { idsInText, priorityOfWord } from './story-fields.ts';
import { shortHash } from './text.ts';

export interface ChecklistTitle {
  /** `own`: the line names it; `weak`: perhaps only a tag or a number; `made`: from the title. */
  idKind: 'own' | 'weak' | 'made';
  id: string;
  title: string;
  /** null: the line names none. */
  priority: number | null;
  /** What it depends on, as it is written: ids, titles, or words about something else. */
  dependsOn: string[];
  /** Words that say a dependency if they name tasks, and the title without them. */
  perhaps: { said: string; title: string } | null;
  /** `Task 3` counts: the parts of a plan may each count from 1. */
  counted: boolean;
}

/** How much of a line is searched for what it says besides its title. Characters. */
const SEARCHED = 1_000;

/** Reads the text behind a checkbox or of a heading. */
export function readTitle(line: string): ChecklistTitle {
  const text = line.length > SEARCHED ? line.slice(0, SEARCHED) : line;
  const said = readShort(/\s\s|[\t\r]/.test(text) ? text.replace(/\s+/g, ' ') : text);
  if (text === line) return said;
  const title = `${said.title}${line.slice(SEARCHED)}`;
  return said.idKind === 'made' ? { ...said, id: madeId(title), title } : { ...said, title };
}

function readShort(text: string): ChecklistTitle {
  const comment = /<!--\s*id\s*[:=]\s*([A-Za-z0-9][\w.-]{0,79})\s*-->/i.exec(text);
  const visible = text.includes('<!--') ? text.replace(/<!--.*?-->/g, ' ') : text;
  const { ids, rest: left, perhaps: words } = takeDependencies(visible);
  const priority = takePriority(left);
  const plain = unwrapBold(priority.rest.trim());
  const perhaps = words === null ? null : { said: words.said, title: readShort(words.rest).title };
  const rest = { priority: priority.value, dependsOn: ids, perhaps };
  if (comment !== null) return { idKind: 'own', id: comment[1]!, title: plain, counted: false, ...rest };
  const found = namedId(plain, priority.rest.trim().startsWith('**'));
  if (found !== null) return { ...found, ...rest };
  return { idKind: 'made', id: madeId(plain), title: plain, counted: false, ...rest };
}

/** `**US-1**: x` and `**US-1: x**` both as `US-1: x`. */
function unwrapBold(text: string): string {
  if (text[0] !== '*' && text[0] !== '_') return text;
  const match = /^(\*\*|__)\s*(.+?)\s*\1(?!\*)\s*(.*)$/.exec(text);
  if (match === null) return text;
  const [, , inner, rest] = match;
  return rest === '' || /^[:.,]/.test(rest!) ? `${inner}${rest}` : `${inner} ${rest}`;
}

type NamedId = Pick<ChecklistTitle, 'idKind' | 'id' | 'title' | 'counted'>;

const TOKEN = '[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*';
const BRACKETED = new RegExp(`^\\[(${TOKEN}|\\d+(?:\\.\\d+)*)\\](?!\\()\\s*[:：–—-]?\\s*(.*)$`);
const NUMBERED_WORD =
  /^(Task|User Story|Story|Feature|Step|Item|Stage|Phase|Milestone|Issue|Bug|Ticket|Aufgabe|Schritt|Étape|Paso|Passo|Tâche|Tarea|Tarefa|Задача|任务|任務|タスク|작업|(?:ال)?مهمة)\s*#?(\d+(?:\.\d+)*)\s*(?:[:：.)–—-]\s*(.*)|)$/i;
const WEAK_WORD = /^(?:step|item|stage|phase|milestone|schritt|étape|paso|passo)$/;
/** What a word for a task is called in ids, where that is another word. */
export const NUMBERED_IDS: Readonly<Record<string, string>> = {
  'user story': 'story',
  aufgabe: 'task',
  schritt: 'step',
  étape: 'step',
  paso: 'step',
  passo: 'step',
  tâche: 'task',
  tarea: 'task',
  tarefa: 'task',
  задача: 'task',
  任务: 'task',
  任務: 'task',
  タスク: 'task',
  작업: 'task',
  مهمة: 'task',
  المهمة: 'task',
};
const WITH_COLON = new RegExp(`^(${TOKEN})\\s*(?::\\s+|：\\s*)(.+)$`);
const WITH_DASH = new RegExp(`^(${TOKEN})\\s+[–—-]{1,2}\\s+(.+)$`);
const BOLD_TOKEN = new RegExp(`^(${TOKEN})(?:\\s+(.*)|)$`);
const COMMON = /^((?:task|us|story|feat|feature|bug|fix|req|iss|issue|t)-\d[\w.-]*|T\d{2,4})(?:\s+(.*)|)$/i;
const OUTLINE = /^(\d+(?:\.\d+)+|\d+(?=\.\s))\.?\s*[:)]?\s+(.+)$/;

function namedId(plain: string, bold: boolean): NamedId | null {
  // Every id has a digit or stands in brackets.
  if (plain[0] !== '[' && !/\d/.test(plain)) return null;
  const bracketed = BRACKETED.exec(plain);
  if (bracketed !== null) {
    const [, id, title] = bracketed;
    return { idKind: /[\d_-]/.test(id!) ? 'own' : 'weak', id: id!, title: title || id!, counted: false };
  }
  const numbered = NUMBERED_WORD.exec(plain);
  if (numbered !== null) {
    const word = numbered[1]!.toLowerCase();
    const id = `${NUMBERED_IDS[word] ?? word}-${numbered[2]}`;
    // Steps and items are counted anew in every part of a plan.
    const idKind = WEAK_WORD.test(word) ? 'weak' : 'own';
    return { idKind, id, title: numbered[3] || plain, counted: true };
  }
  for (const pattern of [WITH_COLON, WITH_DASH, COMMON, ...(bold ? [BOLD_TOKEN] : [])]) {
    const match = pattern.exec(plain);
    // A word before a colon is an id only where a digit says so: "Docs: …" is not.
    if (match !== null && /\d/.test(match[1]!) && match[1]!.length <= 60) {
      return {
        idKind: pattern === WITH_COLON || pattern === COMMON ? 'own' : 'weak',
        id: match[1]!,
        title: match[2] || match[1]!,
        counted: false,
      };
    }
  }
  const outline = OUTLINE.exec(plain);
  if (outline === null) return null;
  const counted = /^\d+$/.test(outline[1]!);
  return { idKind: 'weak', id: outline[1]!, title: outline[2]!, counted };
}

/** A readable id of a title: its first words and a hash of all of it. */
export function madeId(title: string): string {
  const words = title
    .slice(0, 200)
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]+/g, '')
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  let slug = '';
  for (const word of words) {
    if (slug.length + word.length > 32) break;
    slug = slug === '' ? word : `${slug}-${word}`;
  }
  return `${slug || words[0]?.slice(0, 32) || 'task'}-${shortHash(title)}`;
}

const PRIORITY_HINT =
  /\b(?:p\d|critical|urgent|high|medium|low)\b|priori[td]|приоритет|优先|優先|우선순위|أولوية/i;
const TAGGED_PRIORITY =
  /(^|\s)\**[[(]\s*(?:priority\s*[:=]?\s*)?(p\d|critical|urgent|high|medium|low)\s*(?:priority\s*)?[\])]\**(?=\s|[:.,]|$)\s*:?/i;
const LEADING_PRIORITY = /^\**(P\d|CRITICAL|URGENT|HIGH|MEDIUM|LOW)\**\s*(?::|[–—-]\s)\s*\**\s*(?=\S)/;
const BOLD_PRIORITY = /(^|\s)\*\*(P\d|CRITICAL|URGENT|HIGH|MEDIUM|LOW)\*\*(?=\s|$)/;
const BRACKETS = /\s?\**[[(（【]([^[\]()（）【】]{2,40})[\])）】]\**\s?[:：]?/g;
const DASH_PHRASE = /\s+[–—-]+\s+\**([^–—*]{2,40})\**$/;

function takePriority(text: string): { value: number | null; rest: string } {
  if (!PRIORITY_HINT.test(text)) return { value: null, rest: text };
  const tagged = TAGGED_PRIORITY.exec(text) ?? BOLD_PRIORITY.exec(text);
  if (tagged !== null) {
    const rest = text.slice(0, tagged.index) + tagged[1] + text.slice(tagged.index + tagged[0].length);
    return { value: priorityOfWord(tagged[2]!), rest };
  }
  const leading = LEADING_PRIORITY.exec(text);
  if (leading !== null) return { value: priorityOfWord(leading[1]!), rest: text.slice(leading[0].length) };
  for (const phrase of [...text.matchAll(BRACKETS), DASH_PHRASE.exec(text)]) {
    const value = phrase === null ? null : priorityPhrase(phrase[1]!);
    if (phrase === null || value === null) continue;
    const after = text.slice(phrase.index + phrase[0].length);
    return { value, rest: `${text.slice(0, phrase.index)}${after === '' ? '' : ' '}${after.trimStart()}` };
  }
  return { value: null, rest: text };
}

/** A word and what stands between it and a name: a colon, blanks, or nothing in scripts without blanks. */
const GAP = '(?:\\s*[:：]\\s*|\\s+|(?<=[\\u3040-\\u9fff]))';
const WORDS = `(?:(${DEPENDS}|dependencies|deps|dependencias|依赖关系|依赖项)|(${NEEDS}))`;
const INLINE_DEPENDENCY = new RegExp(`\\s?[[(（【]\\s*${WORDS}${GAP}([^)\\]）】]+)[)\\]）】]`, 'iu');
const DASHED_DEPENDENCY = new RegExp(`\\s+(?:[–—-]+|→|;)\\s+\\**${WORDS}\\**${GAP}\\**\\s*(.+)$`, 'iu');
const TRAILING_DEPENDENCY = new RegExp(`\\s+\\**${WORDS}\\**\\s*[:：]\\**\\s*(.+)$`, 'iu');

interface Dependencies {
  ids: string[];
  rest: string;
  perhaps: { said: string; rest: string } | null;
}

function takeDependencies(text: string): Dependencies {
  const none = { ids: [], rest: text, perhaps: null };
  const bracketed = BRACKET_WORD.test(text) ? INLINE_DEPENDENCY.exec(text) : null;
  const match =
    bracketed ??
    (DASH.test(text) ? DASHED_DEPENDENCY.exec(text) : null) ??
    (text.includes(':') || text.includes('：') ? TRAILING_DEPENDENCY.exec(text) : null);
  if (match === null) return none;
  const [all, clear, , said] = match;
  const rest = text.slice(0, match.index) + text.slice(match.index + all.length);
  if (rest.trim() === '') return none;
  const ids = idsInText(said!);
  // Without brackets around it, and in words that mean much else, it may as well be a part of the sentence.
  const apart = bracketed !== null && /[:：\s]/.test(all[all.lastIndexOf(said!) - 1] ?? '');
  const sure = clear !== undefined && (apart || ids.every((id) => /\d/.test(id)));
  return sure ? { ids, rest, perhaps: null } : { ...none, perhaps: { said: said!, rest } };
}

/** What a dependency must have around it: most titles are told by these. */
const BRACKET_WORD = /[[(（【]\s*(?:[a-oq-z]|p[ro]|[^\x00-\x7f])/i;
const DASH = /\s[–—→;-]+\s/;
