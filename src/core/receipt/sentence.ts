/**
 * Reads one line of a report: which files it says were written. A
 * deed holds for the files after it ("created `a.ts` and `b.ts`") or right before it ("`a.ts` was
 * created"); a "not", a "will" or an aside ("based on", "which imports") undoes that.
 */
import type { ShapedPath } from './path-shape.ts';
import {
  isAbout,
  isAdding,
  isAdjective,
  isAttribute,
  isCompared,
  isInfinitive,
  isLoose,
  isNamed,
  isOutOf,
  isParticiple,
  isTo,
  joins,
} from './reach.ts';
import { asks, Clause, inDoubt, isAgent } from './speaker.ts';
import type { Token } from './tokens.ts';
import type { WordKind, WordSense } from './words.ts';

/** `named`: it is only said to be there, so it is false only where nothing is. */
export type Deed = 'changed' | 'removed' | 'moved' | 'named';

/** A file that a line says was written. */
export interface ToldFile extends ShapedPath {
  deed: Deed;
}

const DEEDS: Partial<Record<WordKind, Deed>> = { wrote: 'changed', gone: 'removed', moved: 'moved' };

/** How many words may stand between a file and the deed after it. */
const NEAR_WORDS = 2;
const LATE_WORDS = 10;

interface Reading {
  deed: Deed | null;
  /** Words of weight between the deed and here. */
  since: number;
  /** "Removed the import in" changes a file and removes none. */
  inside: boolean;
  undone: boolean;
  /** A verb that wrote nothing stands before: files that follow are its objects. */
  objects: boolean;
  aside: 'no' | 'soft' | 'hard';
  /** Files that wait for a deed behind them, and words since. */
  waiting: ShapedPath[];
  gap: number;
  /** The deed may be somebody else's, or of another time. */
  doubt: boolean;
  /** "New file" stands before, and a colon makes it a deed. */
  fresh: boolean;
  /** The files that follow belong to something else, until a place is named, or are what the deed is for. */
  reach: 'object' | 'of' | 'purpose';
  /** A file stood in that aside. */
  passed: boolean;
  /** Places in `told` of what the deed wrote itself. */
  direct: number[];
  /** What stands here still goes with the last of them. */
  linked: boolean;
  /** "in", "to": the files that follow say where. */
  place: boolean;
  /** The word of the deed. */
  verb: string;
}

const fresh = (): Reading => ({
  deed: null,
  since: 0,
  inside: false,
  undone: false,
  objects: false,
  aside: 'no',
  waiting: [],
  gap: 0,
  doubt: false,
  fresh: false,
  reach: 'object',
  passed: false,
  direct: [],
  linked: false,
  place: false,
  verb: '',
});

export interface Line {
  text: string;
  tokens: Token[];
  /** It is an entry of a list of changes: its first file is one whatever follows, and plain verbs count as deeds. */
  leading: boolean;
  /** The lines after it, for what they take back. */
  after: string;
}

/** The files a line says were written. */
export function filesIn({ text, tokens, leading, after }: Line): ToldFile[] {
  const told: ToldFile[] = [];
  if (tokens.length === 0) return told;
  let reading = fresh();
  let clause = new Clause();
  const entry: Entry = { leading, first: leading, explains: false, heavy: 0 };
  /** Where the sentence begins, in `told` and in the line. */
  let [since, from] = [0, 0];
  const close = (at: number, question: boolean) => {
    if (told.length > since) {
      const sentence = text.slice(from, at);
      if (question && asks(sentence)) told.splice(since);
      else if (isDoubted(sentence, text.slice(at), after))
        for (let at = since; at < told.length; at++) told[at] = { ...told[at]!, unsure: true };
    }
    [since, from] = [told.length, at];
  };
  for (const [at, token] of tokens.entries()) {
    switch (token.kind) {
      case 'end':
        close(token.at, token.asks);
        entry.explains = false;
        reading = fresh();
        clause = new Clause();
        break;
      case 'pause':
        if (token.colon) clause.colon();
        else clause.pause();
        if (token.colon && told.length > since) entry.explains = true;
        // "To cover it, I …": what stood in front ends here.
        if (reading.deed === null && told.length === since) reading.reach = 'object';
        // "Ich habe Tests geschrieben, die …": the verb ends what it is about.
        if (at > 1 && !token.colon && endsClause(tokens[at - 1])) reading = fresh();
        // "As asked," ends here.
        if (reading.aside === 'hard' && /^\W*as \w+ed,/i.test(text.slice(from, from + 40)))
          reading.aside = 'no';
        if (token.colon && reading.fresh && reading.deed === null && !reading.undone)
          reading.deed = 'changed';
        break;
      case 'path':
        clause.path();
        pathIn(entry, { tokens, at, reading, told });
        break;
      case 'code':
        clause.code();
        reading.since++;
        reading.gap++;
        entry.heavy++;
        break;
      case 'word': {
        const sense = senseHere(tokens, at, reading);
        if (joins(token.text)) reading.linked = false;
        if (sense === null) entry.heavy++;
        else if (/^(?:other|not|plan|undo|aside|apart|purpose)$/.test(sense.kind)) entry.first = false;
        const deed = sense !== null && /^(?:wrote|gone|moved)$/.test(sense.kind);
        const next = tokens[at + 1];
        const into = next?.kind === 'word' && (next.sense?.kind === 'into' || next.sense?.kind === 'aside');
        const foreign = deed && clause.deed(token.text, { late: sense.late, into });
        const doubt = foreign || (deed && entry.explains && (sense.kind !== 'wrote' || isAdding(token.text)));
        if (!deed) clause.word(token.text, sense);
        // "After reading it, I …": the main clause begins.
        if (reading.aside === 'hard' && tokens[at - 1]?.kind === 'pause' && isAgent(token.text))
          reading.aside = 'no';
        word(reading, { text: token.text, sense, told, leading, doubt });
        break;
      }
    }
  }
  close(text.length, false);
  return told;
}

/** Whether a sentence, or what follows it, leaves a doubt about what it told. */
function isDoubted(sentence: string, behind: string, after: string): boolean {
  const rest = `${behind} ${after}`;
  // Where no mark ends the line, its sentence goes on.
  const cut = behind !== '' || /[.!?;:。！？]\W*$/.test(sentence) ? 0 : endOfSentence(rest);
  return inDoubt(`${sentence} ${rest.slice(0, cut)}`, rest.slice(cut, cut + 160));
}

/** What is known of a line beyond the sentence that is read. */
interface Entry {
  leading: boolean;
  /** The next file is the one that the entry of a list is about. */
  first: boolean;
  /** A file was told, and what follows says what was done in it. */
  explains: boolean;
  /** Words of weight. */
  heavy: number;
}

interface PathHeard {
  tokens: Token[];
  at: number;
  reading: Reading;
  told: ToldFile[];
}

function pathIn(entry: Entry, { tokens, at, reading, told }: PathHeard): void {
  const token = tokens[at]!;
  if (token.kind !== 'path') return;
  const attribute = isAttribute(tokens, at, entry.leading);
  const subject = entry.first && entry.heavy <= 2 && !reading.undone && reading.deed === null;
  if (token.spared || !subject) {
    if (!token.spared) path(reading, token.shape, { told, attribute, named: isNamed(tokens, at) });
    entry.first = false;
    return;
  }
  told.push(asTold(token.shape, 'changed', reading.reach !== 'object' || attribute));
  reading.waiting = [];
  reading.passed = true;
  // "Import of `a.ts` in `b.ts`": the second is the one.
  entry.first = reading.reach === 'of';
  entry.explains = !entry.first;
}

/** What a word means where it stands: "to cover" is a purpose, and "the updated `a.ts`" no deed. */
function senseHere(tokens: Token[], at: number, reading: Reading): WordSense | null {
  const token = tokens[at]!;
  if (token.kind !== 'word') return null;
  const { sense } = token;
  if (sense === null) {
    if (!isParticiple(tokens, at)) return null;
    const front = reading.deed === null && reading.waiting.length === 0;
    return { kind: front ? 'purpose' : 'of', late: false };
  }
  if (sense.kind === 'into' || sense.kind === 'aside') {
    if (sense.kind === 'into' && isLoose(tokens, at)) return { kind: 'glue', late: false };
    if (isInfinitive(tokens, at)) return { kind: 'purpose', late: false };
    if (isCompared(tokens, at)) return { kind: 'of', late: false };
  }
  if (sense.kind === 'wrote' && !sense.late && isAdjective(tokens, at)) return { kind: 'glue', late: false };
  return sense;
}

/** A verb that stands behind its object. */
function endsClause(token: Token | undefined): boolean {
  return token?.kind === 'word' && token.sense?.late === true && DEEDS[token.sense.kind] !== undefined;
}

function endOfSentence(text: string): number {
  const end = /[.!?。！？](?=\s|$)|\n\s*\n/.exec(text);
  return end === null ? text.length : end.index + 1;
}

interface Named {
  told: ToldFile[];
  /** It only gives its name to what stands behind it. */
  attribute: boolean;
  /** What stands before says that only its name is meant. */
  named: boolean;
}

function path(reading: Reading, shape: ShapedPath, { told, attribute, named }: Named): void {
  const { deed, aside, undone, place } = reading;
  reading.passed = true;
  const beside = reading.reach !== 'object' || attribute || named;
  if (deed !== null && aside === 'no' && !undone && reading.since <= 14) {
    const whole = deed === 'removed' && (reading.inside || reading.since > 2) ? 'changed' : deed;
    const about = !place && isAbout(reading.verb, shape.path);
    if (!place && !attribute && reading.reach === 'object') {
      reading.direct.push(told.length);
      reading.linked = true;
    }
    told.push(asTold(shape, whole, reading.doubt || beside || about));
    return;
  }
  if (deed !== null || aside !== 'no' || reading.objects) return;
  if (reading.gap > 0 && reading.waiting.length > 0) reading.waiting = [];
  reading.waiting.push(beside ? { ...shape, unsure: true } : shape);
  reading.gap = 0;
}

function asTold(shape: ShapedPath, deed: Deed, doubt: boolean): ToldFile {
  return { ...shape, deed, unsure: shape.unsure || doubt };
}

/** What the deed was said to have written may only be named by it. */
function doubtDirect({ direct, waiting }: Reading, told: ToldFile[]): void {
  for (const at of direct) told[at] = { ...told[at]!, unsure: true };
  for (const [at, shape] of waiting.entries()) waiting[at] = { ...shape, unsure: true };
}

/** "in", "to": where it was written, or where what is named before was put. */
function placed(reading: Reading, text: string, told: ToldFile[]): void {
  const { aside, reach, passed, deed } = reading;
  if (aside === 'soft') {
    reading.aside = 'no';
    // "Tests for the parser in `a.ts`": there the parser is. "The import in `x.ts` from `a.ts` to `b.ts`": no file is.
    const moves = isTo(text) && (reading.place || reading.direct.length > 0) && deed !== 'moved';
    reading.reach = passed && !moves ? 'object' : 'of';
  } else if (reach === 'of' && passed) reading.reach = 'object';
  if (deed === 'removed') reading.inside = true;
  else if (deed !== 'moved' && reading.linked && reading.reach === 'object') {
    const adding = isAdding(reading.verb) || isAbout(reading.verb, '');
    if (adding || isTo(text)) doubtDirect(reading, told);
    if (!adding) [reading.reach, reading.passed] = ['of', false];
    reading.linked = false;
  }
  // "`a.ts` in `b.ts`", and the deed comes later.
  if (deed === null && reading.gap === 0 && reading.waiting.length > 0) doubtDirect(reading, told);
  reading.place = true;
}

interface Heard {
  text: string;
  sense: WordSense | null;
  told: ToldFile[];
  leading: boolean;
  doubt: boolean;
}

function word(reading: Reading, { text, sense, told, leading, doubt }: Heard): void {
  const kind = sense?.kind ?? null;
  switch (kind) {
    case 'wrote':
    case 'gone':
    case 'moved':
      return done(reading, { deed: DEEDS[kind]!, verb: text, late: sense?.late ?? false, told, doubt });
    case 'base':
      if (leading && !reading.undone && reading.waiting.length === 0 && reading.deed === null)
        return done(reading, { deed: 'changed', verb: text, late: false, told, doubt });
      return ended(reading, sense?.late ?? false);
    case 'other':
      return ended(reading, sense?.late ?? false);
    case 'not':
    case 'plan':
      reading.undone = true;
      return;
    case 'undo':
      reading.waiting = [];
      reading.undone = false;
      return;
    case 'aside':
      // "Removed x from `a.ts`" is about a.ts; "created x from `a.ts`" is not.
      if (
        reading.linked &&
        (isOutOf(text) ? reading.deed === 'removed' : /^repl|^ersetz|^rempl/i.test(reading.verb))
      ) {
        doubtDirect(reading, told);
        reading.linked = false;
      }
      reading.passed = false;
      if (reading.deed === 'removed') [reading.inside, reading.reach] = [true, 'object'];
      else if (reading.deed !== 'moved' && reading.aside === 'no') reading.aside = 'soft';
      return;
    case 'apart':
      reading.aside = 'hard';
      reading.waiting = [];
      return;
    case 'into':
      return placed(reading, text, told);
    case 'of':
    case 'purpose':
      if (reading.reach !== 'purpose') [reading.reach, reading.passed] = [kind, false];
      return;
    case 'part':
      if (reading.waiting.length > 0 || reading.linked) doubtDirect(reading, told);
      return;
    case 'but':
      Object.assign(reading, fresh());
      return;
    case 'new':
      if (reading.gap === 0 && reading.waiting.length > 0) settle(reading, 'changed', { told, doubt: false });
      reading.fresh = reading.gap === 0 && reading.since === 0;
      return;
    case 'glue':
      return;
    case null:
      reading.passed = false;
      reading.since++;
      reading.gap++;
  }
}

/** A deed that is not one: it takes up what stood before it, and nothing after it was written. */
function ended(reading: Reading, late: boolean): void {
  const { aside } = reading;
  Object.assign(reading, fresh(), { objects: !late });
  reading.aside = aside === 'hard' ? 'hard' : 'no';
}

interface Done {
  deed: Deed;
  verb: string;
  late: boolean;
  told: ToldFile[];
  doubt: boolean;
}

function done(reading: Reading, { deed, verb, late, told, doubt }: Done): void {
  const { undone, aside } = reading;
  if (undone || aside === 'hard') {
    Object.assign(reading, fresh());
    reading.aside = aside === 'hard' ? 'hard' : 'no';
    return;
  }
  const near = reading.gap <= (late ? LATE_WORDS : NEAR_WORDS);
  if (reading.waiting.length > 0 && near) {
    settle(reading, deed, { told, doubt });
    return;
  }
  Object.assign(reading, fresh(), { deed, verb, doubt });
}

function settle(reading: Reading, deed: Deed, { told, doubt }: { told: ToldFile[]; doubt: boolean }): void {
  if (!reading.undone) for (const shape of reading.waiting) told.push(asTold(shape, deed, doubt));
  Object.assign(reading, fresh());
}
