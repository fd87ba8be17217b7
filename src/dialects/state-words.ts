/** The words for how far a task is, by a closed list per language: read from all, written in the file's own. */
import type { TaskStatus } from '../core/index.ts';
import { fold } from './word-fold.ts';

/** What a state's words mean: a status, or `blocked`, which no checklist of ours has. */
export type SaidStatus = TaskStatus | 'blocked';

/** Words of the states by language; the first of a row is the one we write. */
const STATES: readonly Partial<Record<SaidStatus, readonly string[]>>[] = [
  {
    todo: words(
      'todo|to do|open|pending|not started|not yet started|unstarted|ready|new|backlog|planned|draft|incomplete',
      'not done|waiting|queued|scheduled|upcoming|tbd|to be done|planning|not complete|not completed|proposed',
    ),
    doing: words(
      'in progress|doing|started|wip|work in progress|active|ongoing|underway|under way|working|in work',
      'in development|partial|partially done|partially complete|partly done',
    ),
    review: words(
      'review|in review|under review|needs review|ready for review|awaiting review|pending review|testing|in testing',
    ),
    done: words(
      'done|completed|complete|closed|passed|finished|shipped|merged|implemented|resolved|fixed|deployed|released',
    ),
    failed: words('failed'),
    cancelled: words(
      "cancelled|canceled|skipped|wontfix|won't do|wont do|dropped|abandoned|rejected|obsolete",
    ),
    blocked: words('blocked|on hold|deferred|postponed|parked|paused'),
  },
  {
    todo: words('offen|ausstehend|nicht begonnen|noch nicht begonnen|nicht gestartet|geplant|zu erledigen'),
    doing: words('in Arbeit|laufend|begonnen|in Bearbeitung|angefangen|läuft'),
    review: words('in Prüfung|zu prüfen'),
    done: words('erledigt|fertig|abgeschlossen|umgesetzt|fertiggestellt'),
    failed: words('fehlgeschlagen'),
    cancelled: words('abgebrochen|verworfen|entfällt|gestrichen'),
    blocked: words('blockiert|zurückgestellt|pausiert'),
  },
  {
    todo: words('à faire|ouvert|en attente|non commencé|pas commencé|prévu|planifié'),
    doing: words('en cours|commencé|démarré'),
    review: words('en revue|en relecture|à relire'),
    done: words('terminé|terminée|fait|faite|fini|finie|achevé'),
    failed: words('échoué'),
    cancelled: words('annulé|annulée|abandonné'),
    blocked: words('bloqué|bloquée|en pause'),
  },
  {
    todo: words('pendiente|por hacer|abierto|abierta|sin empezar|no iniciado|no iniciada|planificado'),
    doing: words('en progreso|en curso|iniciado|empezado|en desarrollo'),
    review: words('en revisión|por revisar'),
    done: words('hecho|hecha|completado|completada|terminado|terminada|listo|finalizado'),
    failed: words('fallido|fallida'),
    cancelled: words('cancelado|cancelada|descartado'),
    blocked: words('bloqueado|bloqueada|en pausa'),
  },
  {
    todo: words('pendente|a fazer|por fazer|aberto|aberta|não iniciado|não iniciada|planejado'),
    doing: words('em andamento|em progresso|em curso|iniciado|em desenvolvimento'),
    review: words('em revisão|para revisar'),
    done: words('concluído|concluída|feito|feita|completo|terminado|finalizado|pronto'),
    failed: words('falhou|falhado'),
    cancelled: words('cancelado|cancelada|descartado'),
    blocked: words('bloqueado|bloqueada|em pausa'),
  },
  {
    todo: words('da fare|da iniziare|aperto|in attesa|non iniziato'),
    doing: words('in corso|iniziato|in lavorazione'),
    review: words('in revisione|da rivedere'),
    done: words('fatto|completato|completata|finito|terminato|concluso'),
    failed: words('fallito'),
    cancelled: words('annullato|annullata'),
    blocked: words('bloccato|bloccata|in pausa'),
  },
  {
    todo: words('не начато|не начата|открыто|ожидает|запланировано|к выполнению'),
    doing: words('в работе|в процессе|начато|выполняется'),
    review: words('на проверке|на ревью'),
    done: words('готово|сделано|выполнено|завершено|завершена|готов'),
    failed: words('не удалось|провалено'),
    cancelled: words('отменено|отменена'),
    blocked: words('заблокировано|отложено'),
  },
  {
    todo: words('未着手|未対応|予定|未開始|着手前'),
    doing: words('進行中|作業中|対応中|実装中'),
    review: words('レビュー中|レビュー待ち'),
    done: words('完了|済み|対応済み|済'),
    failed: words('失敗'),
    cancelled: words('中止|取り消し|キャンセル'),
    blocked: words('ブロック|保留'),
  },
  {
    todo: words('待办|未开始|待处理|待開始|未完成|未開始|待完成|计划中'),
    doing: words('进行中|進行中|开发中|開發中|处理中'),
    review: words('审核中|待审核|评审中|審核中'),
    done: words('已完成|完成|已结束|已完工'),
    failed: words('失败|失敗'),
    cancelled: words('已取消|取消|已放弃'),
    blocked: words('阻塞|受阻|暂停|已阻塞'),
  },
  {
    todo: words('할 일|대기|시작 전|미시작|예정'),
    doing: words('진행 중|진행중|작업 중'),
    review: words('검토 중|리뷰 중'),
    done: words('완료|완료됨'),
    failed: words('실패'),
    cancelled: words('취소|취소됨'),
    blocked: words('차단됨|보류'),
  },
  {
    todo: words('لم يبدأ|قيد الانتظار|مفتوح'),
    doing: words('قيد التنفيذ|جار|جاري العمل'),
    review: words('قيد المراجعة'),
    done: words('مكتمل|تم|منجز|مكتملة'),
    failed: words('فشل'),
    cancelled: words('ملغى|ملغي'),
    blocked: words('محظور|متوقف'),
  },
];

/** Several words in a line. */
function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split('|'));
}

/** A state, and the numbers of the languages in which a word says it. */
export interface NamedState {
  status: SaidStatus;
  languages: readonly number[];
}

const STATE_OF = new Map<string, NamedState & { languages: number[] }>();
for (const [language, states] of STATES.entries()) {
  for (const [status, row] of Object.entries(states) as [SaidStatus, readonly string[]][]) {
    for (const word of row) {
      const known = STATE_OF.get(fold(word));
      if (known === undefined) STATE_OF.set(fold(word), { status, languages: [language] });
      else if (known.status === status) known.languages.push(language);
    }
  }
}

/** The state a phrase names; null for a phrase nobody knows. */
export function stateOfPhrase(text: string): NamedState | null {
  // No state has many words or a number in it, and most titles have.
  if (text.length > 60 || /\d/.test(text) || text.split(' ', 7).length > 6) return null;
  const plain = fold(text).replace(/[_-]+/g, ' ');
  return STATE_OF.get(plain) ?? STATE_OF.get(plain.replace(/ (?:tasks?|items?|stories)$/, '')) ?? null;
}

/** Words that also mean other things, so that in small letters they are no tag. */
const OFTEN_ELSE = new Set(
  words(
    'open|new|ready|active|draft|backlog|started|closed|passed|shipped|merged|planned|waiting|dropped|skipped',
  )
    .concat(
      words('review|testing|partial|fixed|resolved|released|deployed|implemented|working|planning|queued'),
    )
    .concat(
      words('scheduled|upcoming|proposed|rejected|obsolete|abandoned|paused|parked|failed|incomplete|tbd'),
    ),
);

/** The state that a tag in a title says, as in `[DONE]` or `(in progress)`; null where it may mean anything. */
export function stateOfTag(text: string): NamedState | null {
  const state = stateOfPhrase(text);
  if (state === null || !/\p{L}/u.test(text)) return null;
  const loud = text === text.toUpperCase() && text !== text.toLowerCase();
  return loud || !OFTEN_ELSE.has(fold(text)) ? state : null;
}

/**
 * The word for a status in one of these languages, the one that most of the file's words are in; no
 * languages: any.
 */
export function wordOfState(
  status: TaskStatus,
  languages: readonly number[],
  used: readonly string[] = [],
): string {
  const votes = STATES.map(() => 0);
  for (const word of used) for (const language of stateOfPhrase(word)?.languages ?? []) votes[language]! += 1;
  const among = languages.length > 0 ? languages : STATES.map((_, language) => language);
  const language = among.reduce((best, other) => (votes[other]! > votes[best]! ? other : best), among[0]!);
  return STATES[language]?.[status]?.[0] ?? STATES[0]![status]![0]!;
}
