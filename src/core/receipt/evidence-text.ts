/**
 * Finds in a report's prose the files it says were written and the commands it says were run: sentences,
 * lists, tables, headers of code fences, what git prints. Plans, denials, questions, quotations and the
 * prompt handed back say nothing. Linear in the text; lines without a path are not even looked at.
 */
import { commandsIn, mayRun, type ToldCommand } from './command-words.ts';
import { commitsIn, type ToldCommit } from './commit-words.ts';
import { mayName, namedIn } from './named.ts';
import { EXTENSIONS, shapeOf } from './path-shape.ts';
import { filesIn, type ToldFile } from './sentence.ts';
import { isShown, isUsage } from './shown.ts';
import { tokensOf } from './tokens.ts';
import { type Lead, leadOf, mayTell } from './words.ts';

/** What a text says was done, each file once, in the order of first mention. */
export interface TextEvidence {
  files: ToldFile[];
  commands: ToldCommand[];
  commits: ToldCommit[];
}

/** With this many files found, the rest of a text is not read. */
const MAX_FILES = 200;
const MAX_COMMANDS = 50;
/** Longer lines are read in pieces of this many characters. */
const MAX_LINE_CHARS = 2_000;
/** How many lines are looked at for files that are only mentioned, where nothing is claimed. */
const MAX_MENTIONS = 100;
/** How far above an entry its list's heading is looked for. */
const LOOK_BACK_CHARS = 4_000;

/** Where a line may be of interest: a file's ending, code, a table, a fence, a heading. */
const SIGNS = new RegExp(`[\`|]|\\.(?:${EXTENSIONS.join('|')})(?![A-Za-z0-9])|~~~|\n#|exit code`, 'gi');
const SIGN = new RegExp(SIGNS.source, 'i');
const ESCAPES =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]{0,2048}(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2060\ufeff]/g;
const UNPRINTED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2060\ufeff]/;
const ITEM = /^\s*(?:[-*+•‣–]|\d{1,3}[.)]|\[[xX✓]\])\s+/;

/** `prompt`: what the agent was given; its lines handed back are no report. Never throws. */
export function readEvidenceText(text: string, prompt = ''): TextEvidence {
  return new Walk(text, prompt).read();
}

interface Table {
  /** Where the next row of it must begin. */
  next: number;
  file: number;
  action: number;
  lines: number;
  lead: Lead;
}

interface Fence {
  mark: string;
  /** Where its first line begins. */
  body: number;
  /** What stands in it is shown, not written. */
  shown: boolean;
  named: boolean;
  /** It may hold what git printed. */
  console: boolean;
}

/** One pass over a text. A class, because a dozen places share where it stands. */
class Walk {
  readonly #text: string;
  readonly #prompt: string;
  #promptLines: Set<string> | null = null;
  readonly #files = new Map<string, ToldFile>();
  readonly #commands = new Map<string, ToldCommand>();
  #section: Lead = null;
  /** The section tells how to use the work. */
  #usage = false;
  #table: Table | null = null;
  #fence: Fence | null = null;
  /** The lead of the list that the entry before this one stands in, and where that entry ended. */
  #list: { end: number; lead: Lead } = { end: -1, lead: null };

  constructor(text: string, prompt: string) {
    this.#text = text;
    this.#prompt = prompt;
  }

  read(): TextEvidence {
    const text = this.#text;
    SIGNS.lastIndex = 0;
    if (text.startsWith('#')) this.#line(0, endOf(text, 0));
    let from = text.startsWith('#') ? endOf(text, 0) : 0;
    for (;;) {
      SIGNS.lastIndex = from;
      const sign = SIGNS.exec(text);
      if (sign === null || this.#files.size >= MAX_FILES) break;
      const at = text[sign.index] === '\n' ? sign.index + 1 : sign.index;
      const start = Math.max(text.lastIndexOf('\n', at - 1) + 1, 0);
      const end = endOf(text, at);
      this.#line(start, end);
      from = Math.max(end, at + 1);
    }
    const commits = commitsIn(text);
    const sure = [...this.#files.values(), ...commits].some(({ unsure }) => !unsure);
    if (!sure && this.#commands.size === 0) this.#mentions();
    return { files: [...this.#files.values()], commands: [...this.#commands.values()], commits };
  }

  /** Files that the report only speaks of: evidence where they changed, and else nothing. */
  #mentions(): void {
    let fenced = false;
    let looked = 0;
    for (let start = 0; start < this.#text.length && looked < MAX_MENTIONS; looked++) {
      const end = endOf(this.#text, start);
      const line = clean(this.#text.slice(start, Math.min(end, start + MAX_LINE_CHARS)));
      if (/^\s{0,12}(?:`{3}|~{3})/.test(line)) fenced = !fenced;
      else if (!fenced && SIGN.test(line) && !/^\s*>/.test(line) && !this.#isEcho({ start, end }))
        for (const token of tokensOf(line))
          if (token.kind === 'path' && !token.spared)
            this.#found({ ...token.shape, deed: 'named', unsure: true });
      start = end + 1;
    }
  }

  #line(start: number, end: number): void {
    const whole = this.#text.slice(start, end);
    for (let at = 0; at < whole.length; at += MAX_LINE_CHARS) {
      const piece = whole.length <= MAX_LINE_CHARS ? whole : whole.slice(at, at + MAX_LINE_CHARS);
      if (piece !== whole && !SIGN.test(piece)) continue;
      this.#piece(clean(piece), { start, end });
    }
  }

  #piece(line: string, at: { start: number; end: number }): void {
    const fence = /^\s{0,12}(`{3,}|~{3,})(.*)$/.exec(line);
    if (this.#fence !== null) {
      if (fence !== null && fence[2]!.trim() === '' && fence[1]!.startsWith(this.#fence.mark))
        this.#fence = null;
      else this.#fenced(line, at, this.#fence);
      return;
    }
    if (fence !== null && !fence[2]!.includes('`')) return this.#open(fence[1]!, fence[2]!, at);
    if (/^\s*>/.test(line)) return;
    const heading = /^\s{0,3}#{1,6}\s+(.*)$/.exec(line);
    if (heading !== null) {
      const lead = leadOf(heading[1]!);
      this.#usage = isUsage(heading[1]!);
      if (!/[`./\\]/.test(heading[1]!)) {
        this.#section = lead;
        return;
      }
      return this.#sentence(heading[1]!, { at, leading: this.#section === 'claims' && lead !== 'plans' });
    }
    if (line.includes('|') && this.#row(line, at)) return;
    if (line.length < 2) return;
    if (this.#printed(line)) return;
    const item = ITEM.exec(line);
    if (item !== null) return this.#entry(line.slice(item[0].length), at);
    if (this.#section === 'plans') return;
    const alone = /^\s*\S+\s*$/.test(line);
    if (alone) return this.#entry(line, at);
    this.#sentence(line, { at, leading: false });
  }

  #entry(line: string, at: { start: number; end: number }): void {
    const box = /^\[([ xX✓])\]\s+/.exec(line);
    const lead = this.#leadAbove(at.start);
    this.#list = { end: at.end, lead };
    if (lead === 'plans' || box?.[1] === ' ') return;
    const text = box === null ? line : line.slice(box[0].length);
    const gone = lead === 'claims' && /^(?:D|deleted|removed)[:\s]\s*/.exec(text);
    if (gone)
      return this.#sentence(`removed ${text.slice(gone[0].length)}`, { at, leading: false, entry: true });
    this.#sentence(text, { at, leading: lead === 'claims', entry: true });
  }

  #sentence(
    line: string,
    {
      at,
      leading,
      entry = leading,
    }: { at: { start: number; end: number }; leading: boolean; entry?: boolean },
  ): void {
    const tells = leading || mayTell(line);
    if (!tells && !mayRun(line) && !mayName(line)) return;
    const text = entry ? line : `${this.#begun(line, at.start)}${line}`;
    const tokens = tokensOf(text);
    const after = tells ? this.#goingOn(at.end) : '';
    const files = [...filesIn({ text, tokens, leading, after }), ...namedIn(text)];
    const commands = commandsIn(line, text === line ? tokens : tokensOf(line));
    if (files.length + commands.length === 0 || this.#isEcho(at)) return;
    for (const file of files) this.#found(file);
    for (const command of commands) {
      if (this.#commands.size < MAX_COMMANDS) this.#commands.set(command.command, command);
    }
  }

  /** What the line above left open of a sentence that this one goes on with. */
  #begun(line: string, start: number): string {
    if (start === 0 || !/^\s*\p{Ll}/u.test(line)) return '';
    const from = this.#text.lastIndexOf('\n', start - 2) + 1;
    const above = clean(this.#text.slice(Math.max(from, start - 400), start - 1));
    if (above.trim() === '' || /^\s*(?:[#>|]|`{3}|~{3})/.test(above) || /[.!?:;。！？]\W*$/.test(above))
      return '';
    return `${/[^.!?:;。！？]*$/.exec(above.replace(ITEM, ''))?.[0] ?? ''} `.replace(/`/g, '');
  }

  /** The lines that go on after this one, as far as the paragraph. */
  #goingOn(end: number): string {
    const next = clean(this.#text.slice(end + 1, end + 301));
    const stop = /^\s*$|^\s*(?:[#>|]|`{3}|~{3})/m.exec(next);
    const text = stop === null ? next : next.slice(0, stop.index);
    return ITEM.test(text) ? '' : text.replace(/\n[\s\S]*?(?:^\s*[-*+] )[\s\S]*$/m, '').replace(/\s+/g, ' ');
  }

  #found(file: ToldFile): void {
    const key = `${file.deed}\0${file.path}`;
    const known = this.#files.get(key);
    if (known === undefined) this.#files.set(key, file);
    else {
      known.lines ??= file.lines;
      known.unsure &&= file.unsure;
    }
  }

  /** A row of a table; true when the line is one, whatever it says. */
  #row(line: string, at: { start: number; end: number }): boolean {
    const cells = line
      .replace(/^\s*\||\|\s*$/g, '')
      .split('|')
      .map((cell) => cell.trim());
    if (cells.every((cell) => /^:?-+:?$/.test(cell))) {
      if (this.#table?.next === at.start) this.#table.next = at.end + 1;
      return true;
    }
    const table = this.#table;
    if (table !== null && table.next === at.start) {
      table.next = at.end + 1;
      this.#cells(cells, table, at);
      return true;
    }
    const below = this.#text.slice(at.end + 1, Math.min(endOf(this.#text, at.end + 1), at.end + 400));
    if (!/^\s*\|?\s*:?-+/.test(below) || (!below.includes('-|') && !/\|\s*:?-|-\s*\|/.test(below)))
      return false;
    const lead = this.#leadAbove(at.start);
    this.#table = { next: at.end + 1, ...columns(cells), lead };
    return true;
  }

  #cells(cells: string[], table: Table, at: { start: number; end: number }): void {
    if (table.file < 0 || table.lead === 'plans') return;
    if (table.action < 0 && table.lines < 0 && table.lead !== 'claims') return;
    if (this.#isEcho(at)) return;
    const action = cells[table.action] ?? '';
    if (
      /^(?:-|–|—|n\/a|none|read|unchanged|no changes?|untouched|planned|todo|pending|open|❌|✗|⏳|\?|keine?|nein|non?|не|нет|aucune?|ninguno)\b|^(?:-|–|—|❌|✗|⏳)$|не измен|未/iu.test(
        action,
      )
    )
      return;
    const deed =
      /^(?:d|deleted?|removed?|gelöscht|entfernt|supprimé|eliminad[oa]|removid[oa]|удал\S*|删除)(?:[\s.,:]|$)/iu.test(
        action,
      )
        ? 'removed'
        : 'changed';
    for (const token of tokensOf(cells[table.file] ?? '')) {
      if (token.kind !== 'path' || token.spared) continue;
      const range = /^\D{0,8}(\d{1,7})(?:\s*[-–—]\s*\D?(\d{1,7}))?/.exec(cells[table.lines] ?? '');
      const lines = range === null ? null : range[2] === undefined ? range[1]! : `${range[1]}-${range[2]}`;
      this.#found({ ...token.shape, lines: token.shape.lines ?? lines, deed });
    }
  }

  #open(mark: string, info: string, at: { start: number; end: number }): void {
    const above = this.#lineAbove(at.start);
    const shown =
      this.#usage ||
      isShown(above) ||
      this.#section === 'plans' ||
      leadOf(above) === 'plans' ||
      this.#isEcho(at);
    const named = shown ? null : pathOfInfo(info);
    const language = info.trim().split(/[\s:]/)[0]!.toLowerCase();
    const console = /^(?:|diff|patch|console|bash|sh|shell|text|txt|terminal|shell-session)$/.test(language);
    this.#fence = { mark: mark.slice(0, 3), body: at.end + 1, shown, named: named !== null, console };
    if (named !== null) this.#found({ ...named, deed: 'named' });
  }

  #fenced(line: string, { start }: { start: number }, fence: Fence): void {
    if (fence.shown) return;
    if (fence.console && this.#printed(line)) return;
    if (start !== fence.body || fence.named) return;
    const header =
      /^\s*(?:\/\/|#|--|;|%|<!--|\/\*)\s*(?:(?:file(?:name)?|path|datei|fichier|archivo)\s*:\s*)?(\S+)\s*(?:\([\w\s-]*\))?\s*(?:-->|\*\/)?\s*$/i.exec(
        line,
      );
    const shape = header === null ? null : shapeOf(header[1]!, true);
    if (shape !== null && !shape.unsure) this.#found({ ...shape, deed: 'named' });
  }

  /** What git prints of a commit or a difference; true when the line is such a one. */
  #printed(line: string): boolean {
    const mode = /^\s*(create|delete) mode \d{6} (\S.*)$/.exec(line);
    if (mode !== null) return this.#git(mode[2]!, mode[1] === 'delete' ? 'removed' : 'changed');
    const status = /^\s*(modified|new file|deleted):\s+(\S.*)$/.exec(line);
    if (status !== null) return this.#git(status[2]!, status[1] === 'deleted' ? 'removed' : 'changed');
    const stat = /^\s*(\S+)\s+\|\s+(?:\d+\s+[+-]+|Bin\b)/.exec(line);
    if (stat !== null) return this.#git(stat[1]!, 'changed');
    const plus = /^\+\+\+ b\/(\S+)/.exec(line);
    return plus !== null && this.#git(plus[1]!, 'changed');
  }

  #git(path: string, deed: ToldFile['deed']): boolean {
    const shape = shapeOf(path.trim(), true);
    if (shape === null) return false;
    this.#found({ ...shape, deed });
    return true;
  }

  /** What the line above a list says of its entries; looked for as far up as the entry before. */
  #leadAbove(start: number): Lead {
    const floor = Math.max(0, start - LOOK_BACK_CHARS);
    let end = start - 1;
    while (end > floor) {
      if (end <= this.#list.end) return this.#list.lead;
      const from = this.#text.lastIndexOf('\n', end - 1) + 1;
      const line = this.#text.slice(from, Math.min(end, from + 400));
      const isEntry = ITEM.test(line) || /^\s{2,}\S/.test(line) || /^\s*\S*[/.\\]\S+\s*$/.test(line);
      if (line.trim() !== '' && !isEntry) {
        if (/^\s{0,3}#{1,6}\s/.test(line)) return this.#section;
        const marked = /[:：]\s*(?:\*\*|__)?\s*$/.test(line) || /^\s*(?:\*\*|__).+(?:\*\*|__)\s*$/.test(line);
        const lead = marked ? leadOf(clean(line)) : null;
        return lead ?? this.#section;
      }
      end = from - 1;
    }
    return this.#section;
  }

  #lineAbove(start: number): string {
    let end = start - 1;
    for (let tries = 0; tries < 3 && end > 0; tries++) {
      const from = this.#text.lastIndexOf('\n', end - 1) + 1;
      const line = this.#text.slice(Math.max(from, end - 400), end);
      if (line.trim() !== '') return clean(line);
      end = from - 1;
    }
    return '';
  }

  /** The line stands in the prompt; a short one only where the line above it does too. */
  #isEcho({ start, end }: { start: number; end: number }): boolean {
    if (this.#prompt === '') return false;
    this.#promptLines ??= new Set(this.#prompt.split('\n').map(bare));
    const line = bare(this.#text.slice(start, Math.min(end, start + MAX_LINE_CHARS)));
    if (!this.#promptLines.has(line)) return false;
    return line.length >= 60 || this.#promptLines.has(bare(this.#lineAbove(start)));
  }
}

function endOf(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

function clean(line: string): string {
  if (!UNPRINTED.test(line)) return line;
  return line.replace(ESCAPES, '');
}

function bare(line: string): string {
  return clean(line.slice(0, MAX_LINE_CHARS))
    .replace(/^[\s>]+/, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** A fence's header: `ts src/x.ts`, `ts title="src/x.ts"`, `ts:src/x.ts`, `src/x.ts`. */
function pathOfInfo(info: string) {
  const named = /(?:title|file|filename|path|name)\s*=\s*["']?([^"'\s}]+)/i.exec(info)?.[1];
  const words = named === undefined ? info.trim().split(/\s+/) : [named];
  for (const word of words.slice(0, 4)) {
    const text = word.replace(/^\w+:(?=.*[./])(?!\\)/, '');
    if (!/[./\\]/.test(text)) continue;
    const shape = shapeOf(text, true);
    if (shape !== null && !shape.unsure) return shape;
  }
  return null;
}

function columns(cells: string[]): { file: number; action: number; lines: number } {
  const named = (pattern: RegExp) =>
    cells.findIndex((cell) => pattern.test(cell.replace(/[*`]/g, '').trim()));
  return {
    file: named(
      /^(?:files?|file ?names?|paths?|datei(?:en)?|pfad|fichiers?|chemin|archivos?|ruta|arquivos?|bestand(?:en)?|plik(?:i)?|файлы?|путь|文件|路径|ファイル|파일)$/iu,
    ),
    action: named(
      /^(?:changes?|actions?|status|modifications?|what(?: (?:changed|was done))?|type|diff|änderung(?:en)?|aktion|changements?|cambios?|acci[oó]n|estado|alteraç(?:ão|ões)|modifiche|wijziging(?:en)?|zmian[ay]|изменени[ея]|статус|действие|更改|变更|修改|状态|変更|変更内容|변경)$/iu,
    ),
    lines: named(
      /^(?:lines?(?: changed)?|line numbers?|\+\/-|zeilen?|lignes?|l[ií]neas?|linhas?|righe|строки|行|行号)$/iu,
    ),
  };
}
