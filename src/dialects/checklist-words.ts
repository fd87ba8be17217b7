/**
 * The words plans are written in. Headings that hold no tasks, labels, states and priorities are known
 * by a closed list of words per language; a word that is in none of them means nothing.
 */
import type { TaskStatus } from '../core/index.ts';
import { priorityOfWord } from './story-fields.ts';

/** Letters without case and accents, without marks and signs around them: how words are compared. */
export function fold(text: string): string {
  return strip(text)
    .replace(/\([^)]*\)\s*[:：]?\s*$/, '')
    .replace(/^[^\p{L}]+/u, '')
    .replace(/[^\p{L}\p{N})]+$/u, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?& ?/g, ' and ')
    .trim();
}

function strip(text: string): string {
  const lower = text.toLowerCase().replace(/[*_`]+/g, '');
  // Most plans are plain letters, which need no more.
  if (PLAIN.test(lower)) return lower;
  return unaccented(lower).replace(/[’‘]/g, "'");
}

const PLAIN = /^[\x00-\x7f]*$/;

function unaccented(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFKC');
}

/** One pattern of many words, folded as the texts are that it is asked about. */
function anyOf(...words: string[]): RegExp {
  return new RegExp(`^(?:${words.map(unaccented).join('|')})$`, 'u');
}

const ACCEPTANCE = anyOf(
  'acceptance(?: (?:criteria|criterion|tests?|checklist|checks?))?',
  '(?:success|exit|completion|done) criteria',
  'definitions? of done',
  '(?:we are |it is )?(?:done|finished|complete) when.*',
  '(?:erledigt|fertig|abgeschlossen),? wenn.*',
  '(?:terminé|fini) (?:quand|lorsque).*|(?:hecho|terminado|listo) cuando.*|(?:pronto|concluído) quando.*',
  '(?:akzeptanz|abnahme|fertig|erfolgs)-?kriterien',
  "critères (?:d'acceptation|de réussite|de succès)",
  'criterios de (?:aceptación|éxito)',
  'critérios de (?:aceitação|aceite|sucesso)',
  'criteri di (?:accettazione|successo)',
  'критерии (?:приемки|успеха)',
  '受け?入れ?(?:基準|条件)',
  '完了条件',
  '验收(?:标准|条件)|完成标准|驗收標準',
  '(?:인수|완료) (?:기준|조건)',
  'معايير (?:القبول|النجاح)',
);

/** Titles of criteria below a task; elsewhere they may as well be work. */
const LOOSE_ACCEPTANCE = anyOf(
  'acs?|criteria|verification|validation|requirements',
  'kriterien|critères|criterios|critérios',
);

const NO_TASKS = anyOf(
  'success (?:metrics?|indicators?)|(?:overall |key |target )?metrics|kpis?',
  'definitions? of ready',
  '(?:quality|overall|final|project|global) (?:acceptance|success) criteria',
  'notes?(?: (?:for|on|to|about|and) .*)?',
  '.{0,40} notes',
  '(?:status |marker |checkbox |symbol )?legend',
  '(?:status )?(?:key|markers?|symbols?|icons?)',
  'non[- ]goals?|not doing|not in scope|(?:explicitly )?out of scope',
  'open questions?|risks?(?: and .*)?|assumptions?(?: and .*)?',
  'references?|glossary|appendix.*|learnings?|lessons learned|change ?log',
  '(?:an )?examples?(?: (?:format|entry|task|story))?|(?:task|story|entry) (?:format|template)|template',
  'how to .*|instructions(?: for .*)?|conventions',
  'erfolgs(?:metriken|messung)|definition (?:of done|von fertig)|notizen|hinweise|anmerkungen|legende',
  'nicht[- ](?:im umfang|ziele)|(?:außerhalb|ausserhalb) des umfangs|offene fragen|risiken.*|annahmen|glossar|anhang.*',
  'définition (?:de|du) (?:terminé|fini|fait)|(?:indicateurs|métriques|mesures) de (?:succès|réussite)|remarques|légende',
  'hors[- ](?:périmètre|scope|sujet)|questions ouvertes|risques.*|hypothèses|glossaire|annexes?.*',
  'definición de (?:hecho|terminado|listo|completado)|métricas de éxito|notas|leyenda',
  'fuera de(?:l)? alcance|preguntas abiertas|riesgos.*|supuestos|glosario|anexos?.*',
  'definição de (?:pronto|concluído)|métricas de sucesso|legenda|fora d[oe] escopo|perguntas em aberto|riscos.*',
  'definizione di (?:fatto|completato|finito)|note|fuori (?:ambito|portata)|domande aperte|rischi.*',
  'определение готовности|метрики успеха|заметки|примечания|легенда|вне (?:рамок|области).*|открытые вопросы|риски.*',
  '完了の定義|成功(?:指標|基準)|備考|メモ|ノート|注意(?:事項)?|凡例|(?:対象|スコープ|範囲)外|未解決の(?:質問|問題)|リスク.*|前提(?:条件)?|用語集',
  '完成的?(?:定义|定義)|成功(?:指标|标准|指標)|备注|備註|注意事项|笔记|图例|圖例|(?:不在)?范围之?外|超出范围|非目标|(?:开放|待解决的?)问题|风险.*|假设|附录|术语表',
  '완료(?:의)? 정의|성공 지표|메모|참고|범례|범위 (?:외|밖)|위험.*',
  'تعريف (?:الإنجاز|الاكتمال|المنجز|الانتهاء)|(?:مقاييس|مؤشرات) النجاح|ملاحظات|(?:مفتاح الرموز|دليل الرموز)|خارج النطاق|أسئلة مفتوحة|المخاطر|الافتراضات',
);

const LEGEND = anyOf(
  '(?:status |marker |checkbox |symbol )?legend|(?:status )?(?:key|markers?|symbols?|icons?)',
  'legende|leyenda|legenda|легенда|凡例|图例|圖例|범례|مفتاح الرموز|دليل الرموز',
);

/** True for the title of a task's criteria. */
export function isAcceptanceTitle(text: string): boolean {
  const title = fold(text);
  return ACCEPTANCE.test(title) || LOOSE_ACCEPTANCE.test(title);
}

/** True for the title of a section that plainly holds no tasks. */
export function isNoTaskTitle(text: string): boolean {
  const title = fold(text);
  return NO_TASKS.test(title) || ACCEPTANCE.test(title);
}

/** True for the title of a section that explains markers. */
export function isLegendTitle(text: string): boolean {
  return LEGEND.test(fold(text));
}

/** What a state's words mean: a status, or `blocked`, which no checklist of ours has. */
export type SaidStatus = TaskStatus | 'blocked';

/** Words of the states by language; the first of a row is the one we write. */
const STATES: readonly Partial<Record<SaidStatus, readonly string[]>>[] = [
  {
    todo: [
      'todo',
      'to do',
      'open',
      'pending',
      'not started',
      'not yet started',
      'ready',
      'new',
      'backlog',
      'planned',
      'draft',
      'incomplete',
      'not done',
      'waiting',
    ],
    doing: ['in progress', 'doing', 'started', 'wip', 'work in progress', 'active', 'ongoing'],
    review: ['review', 'in review', 'needs review', 'ready for review', 'awaiting review', 'pending review'],
    done: ['done', 'completed', 'complete', 'closed', 'passed', 'finished', 'shipped', 'merged'],
    failed: ['failed'],
    cancelled: ['cancelled', 'canceled', 'skipped', 'wontfix', "won't do", 'dropped'],
    blocked: ['blocked', 'on hold'],
  },
  {
    todo: ['offen', 'ausstehend', 'nicht begonnen', 'geplant'],
    doing: ['in arbeit', 'laufend', 'begonnen'],
    review: ['in prufung'],
    done: ['erledigt', 'fertig', 'abgeschlossen'],
    failed: ['fehlgeschlagen'],
    cancelled: ['abgebrochen', 'verworfen'],
    blocked: ['blockiert'],
  },
  {
    todo: ['a faire', 'ouvert', 'en attente', 'non commence'],
    doing: ['en cours'],
    review: ['en revue', 'en relecture'],
    done: ['termine', 'fait', 'fini'],
    failed: ['echoue'],
    cancelled: ['annule'],
    blocked: ['bloque'],
  },
  {
    todo: ['pendiente', 'por hacer', 'abierto', 'sin empezar', 'pendente', 'a fazer'],
    doing: ['en progreso', 'en curso', 'em andamento', 'em progresso'],
    review: ['en revision', 'em revisao'],
    done: ['hecho', 'completado', 'completada', 'terminado', 'feito', 'concluido'],
    failed: ['fallido', 'falhou'],
    cancelled: ['cancelado', 'cancelada'],
    blocked: ['bloqueado', 'bloqueada'],
  },
  {
    todo: ['未着手', '未対応', '予定'],
    doing: ['進行中', '作業中', '対応中'],
    review: ['レビュー中', 'レビュー待ち'],
    done: ['完了', '済み', '対応済み'],
    failed: ['失敗'],
    cancelled: ['中止', '取り消し', 'キャンセル'],
    blocked: ['ブロック', '保留'],
  },
  {
    todo: ['待办', '未开始', '待处理', '待開始', '未完成'],
    doing: ['进行中', '進行中', '开发中'],
    review: ['审核中', '待审核'],
    done: ['已完成', '完成'],
    failed: ['失败'],
    cancelled: ['已取消', '取消'],
    blocked: ['阻塞', '受阻'],
  },
  {
    todo: ['لم يبدأ', 'قيد الانتظار', 'مفتوح'],
    doing: ['قيد التنفيذ', 'جار'],
    review: ['قيد المراجعة'],
    done: ['مكتمل', 'تم', 'منجز'],
    failed: ['فشل'],
    cancelled: ['ملغى', 'ملغي'],
    blocked: ['محظور', 'متوقف'],
  },
];

const STATE_OF = new Map<string, { status: SaidStatus; language: number }>();
for (const [language, states] of STATES.entries()) {
  for (const [status, words] of Object.entries(states) as [SaidStatus, readonly string[]][]) {
    for (const word of words) {
      const folded = fold(word);
      if (!STATE_OF.has(folded)) STATE_OF.set(folded, { status, language });
    }
  }
}

/** The state a phrase names, with the number of its language; null for a phrase nobody knows. */
export function stateOfPhrase(text: string): { status: SaidStatus; language: number } | null {
  // No state has many words or a number in it, and most titles have.
  if (text.length > 60 || /\d/.test(text) || text.split(' ', 7).length > 6) return null;
  const plain = fold(text).replace(/[_-]+/g, ' ');
  return STATE_OF.get(plain) ?? STATE_OF.get(plain.replace(/ (?:tasks?|items?|stories)$/, '')) ?? null;
}

/** The word for a status in the language of that number. */
export function wordOfState(status: TaskStatus, language: number): string {
  return STATES[language]?.[status]?.[0] ?? STATES[0]![status]![0]!;
}

/** What a line "Name: value" can say of a task. */
export type PropertyName = 'dependsOn' | 'files' | 'priority' | 'changes' | 'type' | 'status' | 'blocked';

const PROPERTIES: readonly [name: PropertyName, words: RegExp][] = [
  [
    'dependsOn',
    anyOf(
      'depends(?:[ _-]?on)?|dependenc(?:y|ies)|deps|blocked[ -]by|requires|prerequisites?|after',
      'abhängig(?:keit(?:en)?)?(?: von)?|hängt ab von|voraussetzung(?:en)?',
      'dépend(?:ances?)?(?: de)?|depende(?:ncias?)?(?: d[eo])?|dipende(?:nze)?(?: da)?|зависит от|зависимости',
      '依存(?:関係|先)?|前提タスク|依赖(?:于|项|关系)?|前置任务|의존(?:성)?|يعتمد على|(?:ال)?اعتماديات|التبعيات',
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
  ['blocked', anyOf('blocked|blocker|blocked because|blocking reason|blockiert|bloqué|bloqueado')],
];

export interface Property {
  name: PropertyName;
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
  return name === null ? null : { name, value: text.slice(match[0].length), at: match[0].length };
}

/** The property that a label such as `Dependencies:` or a heading announces for the list below it. */
export function nameOf(text: string): PropertyName | null {
  const label = fold(text);
  return PROPERTIES.find(([, words]) => words.test(label))?.[0] ?? null;
}

const PRIORITY_NOUN = /priori[td]\p{L}*|приоритет\p{L}*|优先级|優先度|优先度|우선순위|أولوية/u;

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
