/**
 * A line for a POSIX shell, read as far as its exit code needs it: which simple commands it is made of and
 * how they are joined. Loops, conditions, functions and what is not closed are not read: nobody then knows
 * what ran. What stands in quotes, in here-documents and in substitutions is no command of the line.
 */

/** Commands joined by `|`; a single one is the rule. */
export interface Pipeline {
  /** A `!` stands before it. */
  negated: boolean;
  parts: ShellPart[];
}

/** One command: a simple one by its words, or a list in brackets. `group` is `{ …; }`. */
export type ShellPart =
  | { kind: 'simple'; words: string[] }
  | { kind: 'subshell' | 'group'; list: ShellItem[] };

/** Pipelines joined by `&&` and `||`; `joints[0]` stands before `chain[1]`. */
export interface ShellItem {
  chain: Pipeline[];
  joints: ('&&' | '||')[];
  background: boolean;
}

/** Brackets within brackets beyond this are not read. */
const MAX_DEPTH = 20;

/** The items of a line, which `;`, `&` and ends of lines part; null where it cannot be read. Linear in the line. */
export function readShell(line: string): ShellItem[] | null {
  try {
    return new Reader(line).read();
  } catch (error) {
    if (error instanceof Unread) return null;
    throw error;
  }
}

class Unread extends Error {}

const KEYWORD =
  /^(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|select|function|coproc|in|\}|\(\()$/;
const BLANK = /[ \t\r]/;
/** Ends a word; other spaces than these are characters like any. */
const META = /[ \t\r\n;&|()<>]/;

/** Where a line is read. A class, because every piece moves the same place. */
class Reader {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  /** Here-documents that begin behind the end of this line. */
  readonly #documents: string[] = [];

  constructor(text: string) {
    this.#text = text.replace(/\\\r?\n/g, ' ');
  }

  read(): ShellItem[] {
    const list = this.#list('');
    if (this.#at < this.#text.length || this.#documents.length > 0) throw new Unread();
    return list;
  }

  /** Up to the end, or to the bracket that closes it, which stays. */
  #list(closer: '' | ')' | '}'): ShellItem[] {
    if (++this.#depth > MAX_DEPTH) throw new Unread();
    const items: ShellItem[] = [];
    for (;;) {
      this.#blanks(true);
      if (this.#at >= this.#text.length || this.#closes(closer)) break;
      const item: ShellItem = { chain: [this.#pipeline()], joints: [], background: false };
      for (let joint = this.#joint(); joint !== null; joint = this.#joint()) {
        this.#blanks(true);
        item.joints.push(joint);
        item.chain.push(this.#pipeline());
      }
      item.background = this.#text[this.#at] === '&';
      items.push(item);
      this.#blanks(false);
      const next = this.#text[this.#at];
      if (next === ';' && this.#text[this.#at + 1] === ';') throw new Unread();
      if (next === ';' || next === '&') this.#at++;
      else if (next !== undefined && next !== '\n' && !this.#closes(closer)) throw new Unread();
    }
    this.#depth--;
    return items;
  }

  #closes(closer: string): boolean {
    return closer !== '' && this.#text[this.#at] === closer;
  }

  #joint(): '&&' | '||' | null {
    this.#blanks(false);
    const two = this.#text.slice(this.#at, this.#at + 2);
    if (two !== '&&' && two !== '||') return null;
    this.#at += 2;
    return two;
  }

  #pipeline(): Pipeline {
    let negated = false;
    while (this.#text[this.#at] === '!' && BLANK.test(this.#text[this.#at + 1] ?? '')) {
      negated = true;
      this.#at++;
      this.#blanks(false);
    }
    const parts = [this.#part()];
    for (;;) {
      this.#blanks(false);
      if (this.#text[this.#at] !== '|' || this.#text[this.#at + 1] === '|') break;
      this.#at += this.#text[this.#at + 1] === '&' ? 2 : 1;
      this.#blanks(true);
      // `a | ! b` is no line: the shell refuses it and runs nothing.
      if (this.#text[this.#at] === '!' && /\s/.test(this.#text[this.#at + 1] ?? '\n')) throw new Unread();
      parts.push(this.#part());
    }
    return { negated, parts };
  }

  #part(): ShellPart {
    if (this.#text.startsWith('((', this.#at)) throw new Unread();
    if (this.#text[this.#at] === '(') return this.#bracket('subshell', ')');
    if (this.#text[this.#at] === '{' && /\s/.test(this.#text[this.#at + 1] ?? ''))
      return this.#bracket('group', '}');
    const words: string[] = [];
    if (/^\[\[\s/.test(this.#text.slice(this.#at, this.#at + 3))) {
      const end = this.#text.indexOf(' ]]', this.#at);
      if (end === -1) throw new Unread();
      words.push(this.#text.slice(this.#at, end + 3));
      this.#at = end + 3;
    }
    this.#words(words);
    if (words.length === 0 || KEYWORD.test(words[0]!)) throw new Unread();
    return { kind: 'simple', words };
  }

  #bracket(kind: 'subshell' | 'group', closer: ')' | '}'): ShellPart {
    this.#at++;
    const list = this.#list(closer);
    if (!this.#closes(closer) || list.length === 0) throw new Unread();
    this.#at++;
    const more: string[] = [];
    this.#words(more);
    if (more.length > 0) throw new Unread();
    return { kind, list };
  }

  /** The words up to the next sign that joins commands; where output goes is left out. */
  #words(words: string[]): void {
    for (;;) {
      this.#blanks(false);
      const char = this.#text[this.#at];
      if (char === undefined || /[;|)\n]/.test(char)) return;
      if (char === '&' && this.#text[this.#at + 1] !== '>') return;
      if (char === '(') throw new Unread();
      if (/[<>&]/.test(char)) {
        if (this.#isSubstitution()) words.push(this.#word());
        else this.#redirect();
        continue;
      }
      const from = this.#at;
      const word = this.#word();
      const next = this.#text[this.#at];
      // `2>&1`: the number belongs to the sign.
      if ((next === '<' || next === '>') && /^\d+$/.test(this.#text.slice(from, this.#at))) continue;
      if (word === '') throw new Unread();
      words.push(word);
    }
  }

  #isSubstitution(): boolean {
    return /[<>]/.test(this.#text[this.#at]!) && this.#text[this.#at + 1] === '(';
  }

  #redirect(): void {
    const sign = /^(?:&>>?|<<<|<<-?|<>|<&|>&|>>|>\||[<>])/.exec(
      this.#text.slice(this.#at, this.#at + 3),
    )?.[0];
    if (sign === undefined) throw new Unread();
    this.#at += sign.length;
    this.#blanks(false);
    const target = this.#word();
    if (target === '') throw new Unread();
    if (sign === '<<' || sign === '<<-') this.#documents.push(target.replace(/['"\\]/g, ''));
  }

  #word(): string {
    const from = this.#at;
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at]!;
      if (this.#at === from && this.#isSubstitution()) {
        this.#at += 2;
        this.#nested();
      } else if (META.test(char)) break;
      else this.#piece(char);
    }
    return this.#text.slice(from, this.#at);
  }

  /** One character of a word, or all that its quotation mark or bracket holds. */
  #piece(char: string): void {
    this.#at++;
    if (char === '\\') this.#at++;
    else if (char === "'") this.#past("'");
    else if (char === '`') this.#past('`');
    else if (char === '"') {
      while (this.#text[this.#at] !== '"') {
        if (this.#at >= this.#text.length) throw new Unread();
        this.#inDouble();
      }
      this.#at++;
    } else if (char === '$') this.#dollar();
  }

  #inDouble(): void {
    const char = this.#text[this.#at++];
    if (char === '\\') this.#at++;
    else if (char === '`') this.#past('`');
    else if (char === '$') this.#dollar();
  }

  #dollar(): void {
    if (this.#text[this.#at] === '(') {
      this.#at++;
      this.#nested();
    } else if (this.#text[this.#at] === '{') this.#past('}');
  }

  /** Behind the bracket that closes a substitution. */
  #nested(): void {
    if (++this.#depth > MAX_DEPTH) throw new Unread();
    for (let open = 1; open > 0; ) {
      const char = this.#text[this.#at];
      if (char === undefined) throw new Unread();
      if (char === '(') open++;
      if (char === ')') open--;
      this.#piece(char);
    }
    this.#depth--;
  }

  #past(closer: string): void {
    const end = this.#text.indexOf(closer, this.#at);
    if (end === -1) throw new Unread();
    this.#at = end + 1;
  }

  /** Blanks and comments; with `lines` also ends of lines, behind which here-documents stand. */
  #blanks(lines: boolean): void {
    for (;;) {
      const char = this.#text[this.#at];
      if (char !== undefined && BLANK.test(char)) this.#at++;
      else if (char === '#') {
        const end = this.#text.indexOf('\n', this.#at);
        this.#at = end === -1 ? this.#text.length : end;
      } else if (char === '\n' && lines) {
        this.#at++;
        for (const name of this.#documents.splice(0)) this.#document(name);
      } else return;
    }
  }

  #document(name: string): void {
    while (this.#at < this.#text.length) {
      const end = this.#text.indexOf('\n', this.#at);
      const line = this.#text.slice(this.#at, end === -1 ? this.#text.length : end);
      this.#at = end === -1 ? this.#text.length : end + 1;
      if (line.replace(/^\t+/, '').trimEnd() === name) return;
    }
    throw new Unread();
  }
}
