/** One line of a report in pieces: files, code, words with what they mean, pauses and ends of sentences. */
import { linesAfter, type ShapedPath, shapeOf } from './path-shape.ts';
import { RUNNER, SHELL } from './run-words.ts';
import { senseOf, sensesWithin, type WordSense } from './words.ts';

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
