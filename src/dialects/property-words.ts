/**
 * The words by which a line says something of its task: "Depends on: …", "Priority: high", by a closed
 * list per language. A word that is in none of them means nothing.
 */

import { isAcceptanceTitle } from './section-words.ts';
import { priorityOfWord } from './story-fields.ts';
import { anyOf, fold } from './word-fold.ts';

/** What a line "Name: value" can say of a task. */
export type PropertyName =
  | 'dependsOn'
  | 'files'
  | 'priority'
  | 'changes'
  | 'type'
  | 'status'
  | 'blocked'
  | 'acceptance';

/** Words that say what a task depends on, wherever they stand. The source of a pattern. */
export const DEPENDS =
  'depends[ _-]?on|dependent on|blocked[ -]by|hängt ab von|abhängig von|blockiert (?:durch|von)|dépend d[eu]s?|bloquée? par|' +
  'depende d[eo]l?|bloquead[oa] por|dipende da|bloccat[oa] da|зависит от|依存先?|依赖于?|依賴於?|取决于|의존|يعتمد على';

/** Words that may as well be a part of the sentence: they count where they name tasks. */
export const NEEDS =
  'requires|needs|after|waits? for|waiting for|benötigt|braucht|erfordert|nach|wartet auf|nécessite|requiert|après|' +
  'requiere|necesita|después de|tras|requer|precisa de|depois de|após|richiede|dopo|требует|после|需要|需先完成|前置|必要';

const PROPERTIES: readonly [name: PropertyName, words: RegExp][] = [
  [
    'dependsOn',
    anyOf(
      'dependenc(?:y|ies)|deps|depends|prerequisites?|abhängig(?:keit(?:en)?)?|voraussetzung(?:en)?',
      'dépend(?:ances?)?|depende(?:ncias?|ências?)?|dipende(?:nze)?|зависимости|prérequis',
      '依存(?:関係|先)?|前提タスク|依赖(?:项|关系)|依賴(?:項|關係)|前置(?:任务|条件)|의존(?:성)?|(?:ال)?اعتماديات|التبعيات',
      DEPENDS,
      NEEDS,
    ),
  ],
  [
    'files',
    anyOf('files?|target files|dateien|fichiers|archivos|ficheros|arquivos|文件|ファイル|파일|الملفات'),
  ],
  [
    'priority',
    anyOf(
      'priority|prio|priorität|priorité|prioridad|prioridade|priorità|приоритет|优先级|優先度|优先度|우선순위|الأولوية',
    ),
  ],
  ['changes', anyOf('changes')],
  ['type', anyOf('type')],
  [
    'status',
    anyOf(
      'status|state|progress|zustand|statut|état|estado|stato|статус|状态|狀態|状態|ステータス|상태|الحالة',
    ),
  ],
  [
    'acceptance',
    anyOf(
      'tests?|test cases?|testing|testfälle|pruebas|testes|тесты|テスト|测试(?:用例)?|測試|테스트|اختبارات',
    ),
  ],
  ['blocked', anyOf('blocked|blocker|blocked because|blocking reason|blockiert|bloqué|bloqueado')],
];

export interface Property {
  name: PropertyName;
  /** The name as it is written. */
  label: string;
  value: string;
  /** Where the value begins in the text. */
  at: number;
}

const NAMED =
  /^(?:\*\*|__|\*|_)?([\p{L}][\p{L} _-]{1,28}?)(?:\*\*|__|\*|_)?\s?[:：]\s?(?:\*\*|__|\*|_)?[ \t]*(?=\S)/u;

/** Reads `**Depends on:** T1`, `Status: done` and the like; null for any other line. */
export function propertyOf(text: string): Property | null {
  const colon = text.search(/[:：]/);
  if (colon < 2 || colon > 40) return null;
  const match = NAMED.exec(text.length > 400 ? text.slice(0, 400) : text);
  if (match === null) return null;
  const name = nameOf(match[1]!);
  if (name === null) return null;
  return { name, label: match[1]!, value: text.slice(match[0].length), at: match[0].length };
}

/** The property that a label such as `Dependencies:` or a heading announces for the list below it. */
export function nameOf(text: string): PropertyName | null {
  const known = KNOWN.get(text);
  if (known !== undefined) return known;
  const label = fold(text);
  const name =
    PROPERTIES.find(([, words]) => words.test(label))?.[0] ?? (isAcceptanceTitle(text) ? 'acceptance' : null);
  if (KNOWN.size < MOST_KNOWN && text.length < 40) KNOWN.set(text, name);
  return name;
}

/** A plan says the same few names again and again. */
const KNOWN = new Map<string, PropertyName | null>();
const MOST_KNOWN = 1_000;

const PRIORITY_NOUN =
  /priori[td]\p{L}*|priorität|приоритет\p{L}*|优先级|優先級|優先度|优先度|우선순위|أولوية/u;

const PRIORITY_WORDS: readonly [value: number, words: RegExp][] = [
  [0, anyOf('kritisch|critique|crítica|critico|критический|紧急|緊急|最高|긴급|حرجة?')],
  [1, anyOf('hoch|hohe?|haute|élevée?|alta|alto|высокий|高|높음|عالية?')],
  [2, anyOf('mittlere?|mittel|moyenne?|media|medio|média|средний|中|보통|متوسطة?')],
  [3, anyOf('niedrige?|gering|basse|faible|baja|bajo|baixa|bassa|низкий|低|낮음|منخفضة?')],
];

/** `high`, `P2`, `hoch`, `高` as a number, lower first; null for no priority. */
export function priorityOf(word: string): number | null {
  const known = priorityOfWord(word);
  if (known !== null) return known;
  const folded = fold(word);
  return PRIORITY_WORDS.find(([, words]) => words.test(folded))?.[0] ?? null;
}

/** The priority a heading gives to what stands below it: "High Priority", "P1: …", "优先级：高". */
export function headingPriority(text: string): number | null {
  const level = /^[^\p{L}\p{N}]*(P\d)\b/u.exec(text) ?? /[[(](P\d)[\])]/.exec(text);
  if (level !== null) return priorityOf(level[1]!);
  const title = fold(text);
  if (title.length > 60 || !PRIORITY_NOUN.test(title)) return null;
  for (const word of title.replace(PRIORITY_NOUN, ' ').split(/[^\p{L}\p{N}]+/u)) {
    const value = word === '' ? null : priorityOf(word);
    if (value !== null) return value;
  }
  return null;
}

/** The priority a short phrase is about and nothing else: "Priorität: hoch", "高优先级", "high priority". */
export function priorityPhrase(text: string): number | null {
  const phrase = text.length > 40 ? '' : fold(text);
  if (!PRIORITY_NOUN.test(phrase)) return null;
  const level = phrase
    .replace(PRIORITY_NOUN, ' ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  return level.includes(' ') ? null : priorityOf(level);
}
