/**
 * How far a deed reaches: only what was itself written is a claim. What a purpose names ("to cover `a.ts`"), what
 * belongs to something else ("an import of `a.ts`", "`a.ts` tests") and what was put into a file ("added `a.ts` to
 * `tsconfig.json`") is told in doubt: it counts where it is true, and is no lie where it is not.
 */
import type { Token } from './tokens.ts';

const words = (text: string) => new Set(text.split(/\s+/));

const DETERMINERS =
  words(`the a an its their our your my this that these those each every all both any some same other existing
  following several many various new main whole entire it them`);
/** Words in -ing that are no verb. */
const NO_VERBS =
  words(`existing remaining missing string including during being having thing nothing everything
  something anything setting spring ring king`);
/** Adjectives that go with "to". */
const ADJECTIVES =
  words(`specific similar analogous identical equivalent close relative parallel adjacent compatible
  akin thanks due next comparable related given shown known set`);
/** Behind a file: not the file, but something named after it, or a verb whose subject it is. */
const ATTRIBUTES =
  words(`import imports export exports reference references link links entry entries path paths
  mention mentions usage usages use uses call calls caller callers mock mocks alias aliases require requires include
  includes glob pattern patterns dependency dependencies test tests spec specs coverage docs documentation example
  needs expects depends wants relies reads string name key field eintrag verweis aufruf pfad abhängigkeit zeile`);
/** Before a file: it only names one. */
const NAMES =
  words(`import imports export exports reference references link links entry entries path paths mention glob
  pattern dependency alias require include exclude`);
const ADDS =
  /^(?:add|introduc|includ|register|append|insert|import|export|link|list|hinzugefügt|ergänzt|eingefügt|eingetragen|aufgenommen|ajout|añad|agreg|adicion|aggiun|dodan|dodał|добав|toegevoegd|ekle|添加|新增|增加|追加|추가)/iu;
const JOINS = words('and & und et y e и plus en oraz');
const OUT_OF = words('from aus von de desde depuis da van uit z из');

const lower = (token: Token | undefined) => (token?.kind === 'word' ? token.text.toLowerCase() : '');

/** Whether the "to" at this place begins a purpose: "to cover", not "to `a.ts`" and not "to the parser in". */
export function isInfinitive(tokens: readonly Token[], at: number): boolean {
  const next = tokens[at + 1];
  return lower(tokens[at]) === 'to' && next?.kind === 'word' && !DETERMINERS.has(lower(next));
}

/** "covering", "using": what follows is its object. */
export function isParticiple(tokens: readonly Token[], at: number): boolean {
  const text = lower(tokens[at]);
  if (!/^[a-z]{2,}ing$/.test(text) || NO_VERBS.has(text)) return false;
  return text !== 'following' || !DETERMINERS.has(lower(tokens[at - 1]));
}

/** Whether "in" or "to" at this place has nothing behind it: "lines 3 to 9 and". */
export function isLoose(tokens: readonly Token[], at: number): boolean {
  const next = tokens[at + 1];
  return (
    next === undefined || /^(?:end|pause)$/.test(next.kind) || (next.kind === 'word' && joins(next.text))
  );
}

/** "similar to", "aimed at", "described in": what follows is what it is compared with, meant for, or stands in. */
export function isCompared(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  if (before?.kind !== 'word' || !/^(?:to|at|in|under|within|with)$/.test(lower(tokens[at]))) return false;
  const text = lower(before);
  return ADJECTIVES.has(text) || (before.sense === null && /[a-z]{2}ed$/.test(text));
}

/** "the updated `a.ts`": no deed, but which file. */
export function isAdjective(tokens: readonly Token[], at: number): boolean {
  return tokens[at + 1]?.kind === 'path' && DETERMINERS.has(lower(tokens[at - 1]));
}

/** Whether what stands right behind the file at this place makes it the name of something else. */
export function isAttribute(tokens: readonly Token[], at: number, leads: boolean): boolean {
  const next = lower(tokens[at + 1]);
  // An entry that begins with its file goes on with what that does: "`a.ts` uses it".
  return ATTRIBUTES.has(next) && !(leads && at === 0 && next.endsWith('s'));
}

/** Whether the word before the file says that it only names one: "the import `a.ts`". */
export function isNamed(tokens: readonly Token[], at: number): boolean {
  return NAMES.has(lower(tokens[at - 1]));
}

/** "to", where what stands before was put into what follows. */
export function isTo(text: string): boolean {
  return /^(?:to|zu|à|a|al|naar|до|на)$/i.test(text);
}

/** A deed whose object may be a line in a file as well as a file. */
export function isAdding(text: string): boolean {
  return ADDS.test(text);
}

/** A deed that is about this file, which is not what was written: "documented `a.ts`", "implemented `spec.md`". */
export function isAbout(verb: string, path: string): boolean {
  if (/^(?:document|dokumentier)/i.test(verb)) return true;
  return /^(?:implement|complet|umgesetzt)/i.test(verb) && /\.(?:mdx?|txt|rst|adoc|feature|pdf)$/i.test(path);
}

/** "and": another object of the deed begins. */
export function joins(text: string): boolean {
  return JOINS.has(text.toLowerCase());
}

/** "from", where something was taken out of what follows. */
export function isOutOf(text: string): boolean {
  return OUT_OF.has(text.toLowerCase());
}
