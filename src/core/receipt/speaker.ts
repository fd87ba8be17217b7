/**
 * Whose deed a sentence tells, and of which time: only what the agent says that it did itself, in this
 * attempt, can be held against it. Another actor, the past perfect, a time gone by, a question, and what is
 * taken back in the same or the next sentence leave a doubt, and a doubt accuses nobody.
 */
import type { WordSense } from './words.ts';

const words = (text: string) => new Set(text.split(/\s+/));

const OWN = words(`I I've we we've ich wir habe je j'ai nous hemos eu nós ho abbiamo io noi ik wij heb
  я мы`);
const OTHERS =
  words(`it they she someone somebody everyone who which er sie jemand ils elles quelqu'un ellos él ella
  alguien alguém ele ela eles lui lei loro qualcuno hij zij iemand он она они кто-то`);
const PASSIVE =
  words(`was were been be is are being get got wurde wurden worden ist sind est sont été fue fueron sido
  foi foram è stato stata stati state werd werden se został została zostało zostały был была было были`);
const THIRD = words('hat haben heeft hebben has have');
const PERFECT =
  words(`had hadn't hatte hatten hattest avait avais avions avaient había habíamos habían tinha tínhamos
  tinham aveva avevo avevamo avevano`);
const JOINS = words('and then & und dann et puis y luego e poi и затем');
const NEUTRAL =
  words(`first second third also additionally finally afterwards accordingly besides done complete
  completed finished ok okay yes sure great all everything here thus therefore again so instead both alone
  außerdem zusätzlich zuerst danach abschließend anschließend noch jetzt dabei hier
  ensuite enfin aussi également además también finalmente então depois também infine inoltre anche
  также потом сначала затем успешно дополнительно summary step task status result my our mein meine unser unsere mon ma mes notre mi mis meu minha mio mia
  this these change changes work`);

/** Whether a word is the agent itself as a subject. */
export function isAgent(word: string): boolean {
  return OWN.has(word === 'I' ? word : word.toLowerCase().replace(/’/g, "'"));
}

/** What stands before a deed in its clause, and whose sentence it is. A new one begins with each sentence. */
export class Clause {
  /** The subject that later clauses without one of their own have too. */
  #subject: 'agent' | 'other' = 'agent';
  #own = false;
  #he = false;
  #passive = false;
  #third = false;
  #perfect = false;
  #unknown = false;
  #adverbial = false;
  #empty = true;

  word(text: string, sense: WordSense | null): void {
    const lower = text === 'I' ? text : text.toLowerCase().replace(/’/g, "'");
    if (JOINS.has(lower)) return this.pause();
    if (PERFECT.has(lower)) this.#perfect = true;
    else if (lower === 'he') this.#he = true;
    else if (OWN.has(lower)) this.#own = true;
    else if (PASSIVE.has(lower)) this.#passive = true;
    else if (THIRD.has(lower)) this.#third = true;
    else if (OTHERS.has(lower)) this.#unknown = true;
    else if (sense === null) {
      if (!NEUTRAL.has(lower) && !lower.endsWith('ly')) this.#unknown = true;
    } else if (this.#empty && /^(?:aside|apart|into)$/.test(sense.kind)) this.#adverbial = true;
    this.#empty = false;
  }

  /** Code is a name: `abc123` changed it. */
  code(): void {
    this.#unknown = true;
    this.#empty = false;
  }

  /** A file is a subject as good as none: what stands before it is no longer one. */
  path(): void {
    if (!this.#adverbial) this.#unknown = false;
    this.#empty = false;
  }

  /** A comma or an "and": a clause ends that may have named who acts. */
  pause(): void {
    if (this.#own) this.#subject = 'agent';
    else if (this.#unknown && !this.#adverbial && !this.#passive && this.#subject === 'agent' && !this.#acted)
      this.#subject = 'other';
    this.#begin();
  }

  /** A colon: what stands before it is a heading. */
  colon(): void {
    this.#subject = 'agent';
    this.#begin();
  }

  #acted = false;

  /** Hears a deed; true when it may be somebody else's, or of another time. `into`: "in" or "to" follows it. */
  deed(text: string, { late, into }: { late: boolean; into: boolean }): boolean {
    const dense = /[\u3040-\u9fff\uac00-\ud7af]/.test(text);
    const alone = !this.#unknown && !this.#third && !this.#passive;
    const he = this.#he && /(?:ed|wrote|rewrote|built)$/i.test(text);
    let other = he;
    if (dense || this.#own) other = false;
    else if (late) other = this.#third && !this.#passive;
    else if (alone && !he) other = this.#subject === 'other' && !this.#passive;
    else if (!this.#passive) other = other || (this.#unknown && !into);
    const doubt = other || this.#perfect;
    if (!this.#passive) this.#subject = other ? 'other' : 'agent';
    this.#acted = true;
    this.#begin();
    return doubt;
  }

  #begin(): void {
    this.#own = false;
    this.#he = false;
    this.#passive = false;
    this.#third = false;
    this.#perfect = false;
    this.#unknown = false;
    this.#adverbial = false;
    this.#empty = true;
  }
}

const MONTH =
  'january|february|march|april|june|july|august|september|october|november|december|januar|februar|märz|juni|juli|oktober|dezember';
const PAST = new RegExp(
  [
    String.raw`\blast (?:year|month|week|night|time|spring|summer|autumn|winter|sprint|release|session|\w+day)\b`,
    String.raw`\b(?:yesterday|back then|in the past|upstream|originally|historically|someone else|somebody else)\b`,
    String.raw`\b(?:years?|months?|weeks?|days?|hours?|long) ago\b`,
    String.raw`\b(?:in|since|im|seit) (?:${MONTH}|may(?= \d| of)|mai|(?:19|20)\d\d)\b`,
    String.raw`\b(?:previous|prior|earlier|older|other|another) (?:commit|attempt|session|iteration|run|agent|author|version|release|task|pr|developer|person)\b`,
    String.raw`\b(?:letzte[ns]? (?:jahr|monat|woche|sommer|winter)|gestern|vorgestern|damals|ursprünglich|seinerzeit|vor (?:\w+ )?(?:jahr|monat|woche|tag)(?:en|e)?)\b`,
    String.raw`(?:l'an dernier|l'année dernière|le mois dernier|la semaine dernière|\bhier\b|auparavant|à l'origine|il y a (?:un|une|deux|des|\d+))`,
    String.raw`\b(?:ayer|(?:el )?(?:año|mes) pasado|(?:la )?semana pasada|originalmente|hace (?:un|una|dos|\d+))(?![\p{L}])`,
    String.raw`\b(?:ontem|ano passado|mês passado|semana passada|há (?:um|uma|dois|\d+)|ieri|l'anno scorso|il mese scorso|settimana scorsa|gisteren|vorig jaar|vorige week)(?![\p{L}])`,
    'вчера|в прошлом|раньше|ранее|год назад|недел[юи] назад|коллега|пользователь',
    '去年|昨天|上周|上个月|之前|以前|曾经|用户|同事|别人|他们?(?:已|修|删|创|更)|她|昨年|昨日|先週|先月|ユーザー?が|同僚|他の人|さんが|작년|어제|지난|이전|사용자가|동료|님이',
  ].join('|'),
  'iu',
);
const BY =
  /\bby (?!me\b|us\b|hand\b|default\b|\w+ing\b|\d)(?:@?[A-Z][\w-]*|someone|somebody|another|others?|upstream|him|her|them|an?\b|the (?:user|author|team|owner|maintainer|colleague|previous|formatter|linter|tool|agent)|my (?:colleague|co-?worker)|commit|pr)\b|\bvon (?!mir\b|uns\b)(?:[A-Z]\w+|jemand\w*|einem|einer|dem|der)\b|\b(?:par|por|da|door) (?!moi\b|nous\b|mí\b|mim\b|me\b|noi\b|mij\b)(?:[A-Z]\w+|un|une|uno|una|um|uma|een|l'auteur|el usuario|o usuário|l'utente)\b/u;
const SCRATCH =
  /\b(?:temp|temporary|temporarily|scratch|throw-?away|temporär\w*|vorübergehend\w*|wegwerf\w*|temporaire\w*|temporal|provisional|temporári\w|temporane\w|tijdelijk\w*)\b|временн|临时|一時|임시/iu;

/** Undone within the sentence that tells it. */
const TAKEN_BACK = new RegExp(
  [
    String.raw`\b(?:deleted|removed|dropped|discarded|reverted|undid|erased|cleaned) (?:it|them|that|this|both|those)\b`,
    String.raw`\b(?:deleted|removed|dropped|discarded|reverted|undone|erased)\b.{0,24}\b(?:again|afterwards?|later|right after|at the end|in the end|since)\b`,
    String.raw`\b(?:again|afterwards|later|then|since) (?:deleted|removed|dropped|discarded|reverted|undone|erased)\b`,
    String.raw`\b(?:cleaned (?:it |them |that )?up|rolled (?:it |them |that )?back|put (?:it|them|that|everything) back|threw (?:it|them) away|took (?:it|that|them) (?:back|out))\b`,
    String.raw`\b(?:is|are|now|since) (?:now )?gone\b|\bno longer (?:exists?|there|needed)\b|\b(?:was|were|been|be|got|and) reverted\b`,
    String.raw`\b(?:no|actually|wait|sorry|correction), (?:I|that|it|this|not)\b|\bleft (?:it|them|\S+) (?:as (?:it|they) (?:is|are|was|were)|alone|untouched|unchanged)\b`,
    String.raw`\b(?:wieder|danach|anschließend|später|dann) (?:wieder )?(?:gelöscht|entfernt|verworfen|rückgängig)|rückgängig gemacht|zurückgesetzt`,
    String.raw`(?:puis|ensuite|après) (?:supprimé|annulé|effacé)|(?:supprimé|annulé|effacé)\w* (?:ensuite|après)|(?:l'ai|les ai) (?:ensuite )?(?:supprimé|effacé|annulé)`,
    '(?:luego|después) (?:l[oa]s? )?(?:eliminé|borré|he (?:eliminado|borrado))|l[oa]s? (?:eliminé|borré|revertí|he (?:eliminado|borrado))|revert(?:í|ido|ida)',
    "(?:depois|em seguida) (?:[oa]s? )?(?:removi|excluí|apaguei)|(?:poi|dopo) (?:l'ho |li ho )?(?:rimosso|eliminato|cancellato)|l'ho (?:poi )?(?:rimosso|eliminato|cancellato)",
    String.raw`(?:daarna|weer) (?:weer )?verwijderd|(?:потом|затем|после|снова) (?:\S+ )?удалил|откатил|отменил`,
    '(?:后来?|然后|随后|又)(?:已|将其|把它)?(?:删除|移除|撤销|还原)|(?:その後|後で)?(?:削除し|元に戻し|取り消し)ました|(?:이후|나중에|다시) ?(?:삭제|제거|되돌)',
  ].join('|'),
  'iu',
);
/** What begins a sentence that takes the one before it back. */
const NEXT_TAKES_BACK = new RegExp(
  [
    String.raw`(?:then |later |afterwards,? |finally,? |but )?(?:I |we )?(?:then |later |have |have since |have then )?(?:deleted|removed|reverted|undid|dropped|discarded|erased|rolled)\b.{0,30}\b(?:it|them|that|this|both|again|afterwards|back|later)\b`,
    '(?:it|they|that|this|both|all of (?:it|this|them)|(?:the|that|this|both) (?:change|file|script|edit)s?) (?:was|were|has|have|is|are)(?: been)?(?: then| later| now| since| all)* (?:reverted|removed|deleted|undone|dropped|gone|discarded)',
    String.raw`(?:no\b|nope|not needed|not necessary|not true|not done|never mind|actually|wait|scratch that|correction|sorry|that (?:is|was) (?:wrong|not)|i take (?:it|that) back)`,
    'nein|nicht nötig|stimmt nicht|non\\b|pas nécessaire|no era|não\\b|нет\\b|不对|不需要|いいえ|必要なし|아니',
    String.raw`(?:danach |dann |später )?(?:habe ich|wurde|ich habe) (?:\S+ ){0,3}(?:wieder |danach |später )?(?:gelöscht|entfernt|verworfen|rückgängig|zurückgesetzt)`,
  ]
    .map((one) => `(?:${one})`)
    .join('|')
    .replace(/^/, '^[\\s.…,;:!–—)*_-]*(?:')
    .concat(')'),
  'iu',
);

/** Whether a sentence, with what follows it, leaves a doubt about the deeds it tells. */
export function inDoubt(sentence: string, next: string): boolean {
  const told = unnamed(sentence);
  return (
    PAST.test(told) ||
    BY.test(told) ||
    SCRATCH.test(told) ||
    TAKEN_BACK.test(told) ||
    NEXT_TAKES_BACK.test(unnamed(next))
  );
}

/** Whether the question mark that ends these words asks the whole of them, not what stands in brackets. */
export function asks(sentence: string): boolean {
  const bracket = /^(.*)\([^()]*$/su.exec(sentence);
  return bracket === null || !/\p{L}{3}/u.test(bracket[1]!);
}

/** Without the names of files, whose parts are no words. */
function unnamed(text: string): string {
  return text
    .slice(0, 2_000)
    .replace(/`[^`]*`/g, 'X')
    .replace(/[\w-]*[/\\][\w./\\-]+/g, 'X')
    .replace(/\b[\w-]+\.[a-z]\w{0,4}\b/g, 'X');
}
