/**
 * Reads one line of a report: which files it says were written. A
 * deed holds for the files after it ("created `a.ts` and `b.ts`") or right before it ("`a.ts` was
 * created"); a "not", a "will" or an aside ("based on", "which imports") undoes that.
 */
import { linesAfter, type ShapedPath, shapeOf } from './path-shape.ts';
import { RUNNER, SHELL } from './run-words.ts';
import { asks, Clause, inDoubt, isAgent } from './speaker.ts';
import { senseOf, sensesWithin, type WordKind, type WordSense } from './words.ts';

/** `named`: it is only said to be there, so it is false only where nothing is. */
export type Deed = 'changed' | 'removed' | 'moved' | 'named';

/** A file that a line says was written. */
export interface ToldFile extends ShapedPath {
  deed: Deed;
}

/** A piece of a line. */
export type Token =
  /** `spared`: it is said right behind it that it was only read, or did not change. */
  | { kind: 'path'; shape: ShapedPath; spared: boolean }
  | { kind: 'code'; text: string }
  | { kind: 'word'; text: string; sense: WordSense | null }
  | { kind: 'pause'; colon: boolean }
  /** `at`: where the line goes on behind it. */
  | { kind: 'end'; asks: boolean; at: number };

const OPENERS: Record<string, string> = {
  '`': '`',
  '"': '"',
  '“': '”',
  '„': '“',
  '«': '»',
  '「': '」',
  '『': '』',
};

/** Splits a line into files, code, words and ends of sentences. Linear in the line. */
export function tokensOf(line: string): Token[] {
  const tokens: Token[] = [];
  const unclosed = new Set<string>();
  let at = 0;
  while (at < line.length) {
    const char = line[at]!;
    const closer = OPENERS[char];
    if (closer !== undefined && !unclosed.has(char)) {
      const from = char === '`' ? skip(line, at, '`') : at + 1;
      const to = line.indexOf(closer, from);
      if (to === -1) unclosed.add(char);
      else if (char !== '`' && line.slice(from, to).includes('`')) {
        // Code within quotation marks is read by itself.
        at++;
        continue;
      } else {
        const text = line.slice(from, to);
        const next = char === '`' ? skip(line, to, '`') : to + 1;
        const command = char === '`' && /\s/.test(text.trim()) && (RUNNER.test(text) || SHELL.test(text));
        const shape = command ? null : shapeOf(text, true);
        if (shape !== null) tokens.push(pathToken(shape, line, next));
        else if (char === '`') tokens.push({ kind: 'code', text: text.trim() });
        else for (const word of text.split(/\s+/)) tokens.push(...wordTokens(word));
        at = next;
        continue;
      }
    }
    if (char === '[') {
      const link = linkAt(line, at);
      if (link !== null) {
        if (link.shape !== null) tokens.push(pathToken(link.shape, line, link.next));
        at = link.next;
        continue;
      }
    }
    if (BOUNDARY.test(char)) {
      if (ENDS.test(char)) tokens.push({ kind: 'end', asks: /[？؟]/.test(char), at: at + 1 });
      else if (/[，、：]/.test(char)) tokens.push({ kind: 'pause', colon: char === '：' });
      at++;
      continue;
    }
    RUN.lastIndex = at + 1;
    const end = RUN.exec(line)?.index ?? line.length;
    const found = runTokens(line.slice(at, end), line, end);
    // What touches a bracket that may belong to the name (メモ（案）.md) may be the rest of one.
    const rest = at > 0 && CLOSING.test(line[at - 1]!);
    for (const token of found) {
      if (token.kind === 'end') token.at = end;
      tokens.push(rest ? doubted(token) : token);
    }
    at = end;
  }
  return tokens;
}

/** Stands between runs of characters. Chinese and Japanese set no blanks, but these. */
const BOUNDARY = /[ \t\u00a0\u3000|、，。：；！？（）【】《》〈〉〔〕～・」』、।؛،؟]/;
const CLOSING = /[）】》〉〕」』]/;
/** Of these, the ones that end a sentence, or a clause. */
const ENDS = /[。；！？，।؛؟]/;
/** Where a run of characters ends. */
const RUN = new RegExp(`${BOUNDARY.source.slice(0, -1)}\`"“”„«»「『]`, 'g');

/** Writing that sets no blanks, or none before a word from another: words and paths touch there. */
const DENSE = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々〆\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Arabic}\p{Script=Hebrew}`;
const DENSE_PARTS = new RegExp(`[${DENSE}]+|[^${DENSE}]+`, 'gu');
const ANY_DENSE =
  /[\u0590-\u06ff\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3005-\u9fff\uac00-\ud7af\uf900-\ufaff]/;
const JOINT = /[/\\._-]/;

/**
 * A run that touches words of such a writing is parted where the writing changes: 修改了src/x.ts文件. Where a
 * path's own sign stands at the seam (docs/設計.md), nobody can tell which characters are its own: it is then
 * never held against anybody.
 */
function runTokens(run: string, line: string, next: number): Token[] {
  if (!ANY_DENSE.test(run)) return bareTokens(run, line, next);
  const tokens: Token[] = [];
  const parts = run.match(DENSE_PARTS) ?? [];
  let [at, end] = [0, 0];
  while (at < parts.length) {
    let piece = parts[at]!;
    let joined = false;
    at++;
    while (at < parts.length && (JOINT.test(piece.at(-1)!) || JOINT.test(parts[at]![0]!))) {
      piece += parts[at]!;
      joined = true;
      at++;
    }
    end += piece.length;
    const rest = `${run.slice(end)}${line.slice(next, next + 48)}`;
    if (!joined) {
      tokens.push(...(ANY_DENSE.test(piece) ? wordTokens(piece) : bareTokens(piece, rest, 0)));
      continue;
    }
    // What is said before the seam is heard too.
    for (const sense of sensesWithin(piece)) tokens.push({ kind: 'word', text: piece, sense });
    tokens.push(...bareTokens(piece, rest, 0).map(doubted));
  }
  return tokens;
}

function doubted(token: Token): Token {
  return token.kind === 'path' ? { ...token, shape: { ...token.shape, unsure: true } } : token;
}

function skip(line: string, at: number, char: string): number {
  let next = at;
  while (line[next] === char) next++;
  return next;
}

function pathToken(shape: ShapedPath, line: string, next: number): Token {
  const after = line.slice(next, next + 48);
  const spared = SPARED.test(after);
  return { kind: 'path', shape: { ...shape, lines: shape.lines ?? linesAfter(after) }, spared };
}

/** What stands behind a file that was only read. */
const SPARED =
  /^[`'"”’»*_)\]]{0,3}\s*(?:[([{（:–—-]|→)\s*(?:read[- ]?only|(?:only |just )?read\b|viewed|inspected|reviewed|reference|for reference|context|unchanged|untouched|unmodified|no (?:code )?changes?\b|not (?:changed|modified|touched|edited|needed)|already\b|nur gelesen|gelesen|unverändert|keine änderung|nicht geändert|inchangé|lu\b|lecture seule|aucun changement|sin cambios|solo lectura|sem alteraç|somente leitura|nessuna modifica|sola lettura|invariat|ongewijzigd|alleen gelezen|без изменений|только чтение|未修改|只读|未变|変更なし|読み取り|변경 없음|읽기)/iu;

/** Whether these words say of the file before them that it was only read, or did not change. */
export function spares(after: string): boolean {
  return SPARED.test(after.slice(0, 48));
}

/** `[src/x.ts](src/x.ts#L10-L20)`, and what follows it. */
function linkAt(line: string, at: number): { shape: ShapedPath | null; next: number } | null {
  const middle = line.slice(at, at + 600).indexOf('](');
  if (middle === -1) return null;
  const close = line.indexOf(')', at + middle + 2);
  if (close === -1 || close - at > 1_200) return null;
  const text = line.slice(at + 1, at + middle);
  if (text.includes('[')) return null;
  const target = line.slice(at + middle + 2, close);
  if (target.includes('://')) return { shape: null, next: close + 1 };
  const shape = shapeOf(target, true) ?? shapeOf(text.replace(/[`*]/g, ''), true);
  return { shape, next: close + 1 };
}

/** A run without blanks: a path with marks around it, else its words and ends. */
function bareTokens(run: string, line: string, next: number): Token[] {
  const core = run
    .replace(/^(?:[*_('‘>:–—-]|~~|~(?!\/))+(?=.)/u, '')
    .replace(/(?:[*_)'’~,;:!?。，、；：]|\.(?!\w))+$/u, '');
  const shape = /[./\\]/.test(core) ? (shapeOf(core, false) ?? shapeOf(`${core})`, false)) : null;
  if (shape === null) return wordTokens(run);
  const rest = run.slice(run.indexOf(core) + core.length);
  const token = pathToken(shape, rest + line.slice(next, next + 48), 0);
  return [token, ...endsOf(rest)];
}

function endsOf(text: string): Token[] {
  if (/[.!?;。；，]/.test(text)) return [{ kind: 'end', asks: text.includes('?'), at: 0 }];
  return /[,:]/.test(text) ? [{ kind: 'pause', colon: text.includes(':') }] : [];
}

function wordTokens(run: string): Token[] {
  // The plain word is by far the most frequent.
  const plain = /^([A-Za-z]+)([,:]?)$/.exec(run);
  if (plain !== null) {
    const word: Token = { kind: 'word', text: plain[1]!, sense: senseOf(plain[1]!) };
    return plain[2] === '' ? [word] : [word, { kind: 'pause', colon: plain[2] === ':' }];
  }
  const tokens: Token[] = [];
  for (const [text] of run.matchAll(/[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*|[.!?;。；，…]+|→|->|=>/gu)) {
    if (/^[.!?;。；，…]/.test(text)) {
      // "e.g." and "3.5" end no sentence.
      if (run.endsWith(text) && !/^(?:e\.g|i\.e|z\.b|vgl|cf|etc|p\.ej|u\.a)\.$/i.test(run))
        tokens.push({ kind: 'end', asks: /[?？]/.test(text), at: 0 });
      continue;
    }
    const within = sensesWithin(text);
    if (within.length > 0) for (const sense of within) tokens.push({ kind: 'word', text, sense });
    // 和, と, 를: what is so short joins.
    else if (text.length <= 3 && ANY_DENSE.test(text)) tokens.push({ kind: 'word', text, sense: GLUE });
    else tokens.push({ kind: 'word', text, sense: senseOf(text) });
  }
  if (/[,:—–-]$/.test(run)) tokens.push({ kind: 'pause', colon: run.endsWith(':') });
  return tokens;
}

const GLUE: WordSense = { kind: 'glue', late: false };

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
  let first = leading;
  let heavy = 0;
  /** Where the sentence begins, in `told` and in the line. */
  let [since, from] = [0, 0];
  const close = (at: number, question: boolean) => {
    if (told.length > since) {
      const sentence = text.slice(from, at);
      if (question && asks(sentence)) told.splice(since);
      else {
        const rest = `${text.slice(at)} ${after}`;
        // Where no mark ends the line, its sentence goes on.
        const cut = at < text.length || /[.!?;:。！？]\W*$/.test(sentence) ? 0 : endOfSentence(rest);
        if (inDoubt(`${sentence} ${rest.slice(0, cut)}`, rest.slice(cut, cut + 160)))
          for (let at = since; at < told.length; at++) told[at] = { ...told[at]!, unsure: true };
      }
    }
    [since, from] = [told.length, at];
  };
  for (const [at, token] of tokens.entries()) {
    switch (token.kind) {
      case 'end':
        close(token.at, token.asks);
        reading = fresh();
        clause = new Clause();
        break;
      case 'pause':
        if (token.colon) clause.colon();
        else clause.pause();
        // "As asked," ends here.
        if (reading.aside === 'hard' && /^\W*as \w+ed,/i.test(text.slice(from, from + 40)))
          reading.aside = 'no';
        if (token.colon && reading.fresh && reading.deed === null && !reading.undone)
          reading.deed = 'changed';
        break;
      case 'path':
        clause.path();
        if (token.spared) {
          first = false;
          break;
        }
        if (first && heavy <= 2 && !reading.undone && reading.deed === null) {
          told.push({ ...token.shape, deed: 'changed' });
          reading.waiting = [];
        } else path(reading, token.shape, told);
        first = false;
        break;
      case 'code':
        clause.code();
        reading.since++;
        reading.gap++;
        heavy++;
        break;
      case 'word': {
        const { sense } = token;
        if (sense === null) heavy++;
        else if (/^(?:other|not|plan|undo|aside|apart)$/.test(sense.kind)) first = false;
        const deed = sense !== null && /^(?:wrote|gone|moved)$/.test(sense.kind);
        const next = tokens[at + 1];
        const into = next?.kind === 'word' && (next.sense?.kind === 'into' || next.sense?.kind === 'aside');
        const doubt = deed && clause.deed(token.text, { late: sense.late, into });
        if (!deed) clause.word(token.text, sense);
        // "After reading it, I …": the main clause begins.
        if (reading.aside === 'hard' && tokens[at - 1]?.kind === 'pause' && isAgent(token.text))
          reading.aside = 'no';
        word(reading, { sense, told, leading, doubt });
        break;
      }
    }
  }
  close(text.length, false);
  return told;
}

function endOfSentence(text: string): number {
  const end = /[.!?。！？](?=\s|$)|\n\s*\n/.exec(text);
  return end === null ? text.length : end.index + 1;
}

function path(reading: Reading, shape: ShapedPath, told: ToldFile[]): void {
  const { deed, aside, undone } = reading;
  if (deed !== null && aside === 'no' && !undone && reading.since <= 14) {
    const whole = deed === 'removed' && (reading.inside || reading.since > 2) ? 'changed' : deed;
    told.push(asTold(shape, whole, reading.doubt));
    return;
  }
  if (deed !== null || aside !== 'no' || reading.objects) return;
  if (reading.gap > 0 && reading.waiting.length > 0) reading.waiting = [];
  reading.waiting.push(shape);
  reading.gap = 0;
}

function asTold(shape: ShapedPath, deed: Deed, doubt: boolean): ToldFile {
  return { ...shape, deed, unsure: shape.unsure || doubt };
}

interface Heard {
  sense: WordSense | null;
  told: ToldFile[];
  leading: boolean;
  doubt: boolean;
}

function word(reading: Reading, { sense, told, leading, doubt }: Heard): void {
  const kind = sense?.kind ?? null;
  switch (kind) {
    case 'wrote':
    case 'gone':
    case 'moved':
      return done(reading, { deed: DEEDS[kind]!, late: sense?.late ?? false, told, doubt });
    case 'base':
      if (leading && !reading.undone && reading.waiting.length === 0 && reading.deed === null)
        return done(reading, { deed: 'changed', late: false, told, doubt });
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
      if (reading.deed === 'removed') reading.inside = true;
      else if (reading.deed !== 'moved' && reading.aside === 'no') reading.aside = 'soft';
      return;
    case 'apart':
      reading.aside = 'hard';
      reading.waiting = [];
      return;
    case 'into':
      if (reading.aside === 'soft') reading.aside = 'no';
      if (reading.deed === 'removed') reading.inside = true;
      return;
    case 'but':
      Object.assign(reading, fresh());
      return;
    case 'new':
      if (reading.gap === 0) settle(reading, 'changed', { told, doubt: false });
      reading.fresh = reading.gap === 0 && reading.since === 0;
      return;
    case 'glue':
      return;
    case null:
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
  late: boolean;
  told: ToldFile[];
  doubt: boolean;
}

function done(reading: Reading, { deed, late, told, doubt }: Done): void {
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
  Object.assign(reading, fresh(), { deed, doubt });
}

function settle(reading: Reading, deed: Deed, { told, doubt }: { told: ToldFile[]; doubt: boolean }): void {
  if (!reading.undone) for (const shape of reading.waiting) told.push(asTold(shape, deed, doubt));
  Object.assign(reading, fresh());
}
