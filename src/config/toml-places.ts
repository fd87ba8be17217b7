/**
 * Where each key and item of a TOML text stands. The parser gives values without places, so the text it
 * has accepted is walked once more for its keys alone; values are only stepped over.
 */

/** A key, a table or an item, with what lies in it. */
export interface TomlPlace {
  /** 1-based. Of a table the line of its header, of a key its own. */
  line: number;
  keys: Map<string, TomlPlace>;
  items: TomlPlace[];
}

const BLANK = /(?:[ \t\r\n]|#[^\n]*)*/y;
const SPACE = /[ \t]*/y;
const BARE = /[A-Za-z0-9_-]+/y;
const SCALAR = /[^,\]}#\r\n]*/y;

/** Walks a text that the TOML parser has accepted. Anything else is a bug and throws. */
export function tomlPlaces(text: string): TomlPlace {
  return new Walk(text).whole();
}

class Walk {
  readonly text: string;
  at: number;
  line = 1;
  counted = 0;

  constructor(text: string) {
    this.text = text;
    this.at = text.startsWith('\uFEFF') ? 1 : 0;
  }

  whole(): TomlPlace {
    const root = this.here();
    let table = root;
    for (this.skip(BLANK); this.at < this.text.length; this.skip(BLANK)) {
      if (this.sign() === '[') table = this.header(root);
      else this.pair(table);
    }
    return root;
  }

  /** A table's header; answers the table that the following keys belong to. */
  header(root: TomlPlace): TomlPlace {
    const many = this.text.startsWith('[[', this.at);
    this.at += many ? 2 : 1;
    const steps = this.key();
    const last = steps.at(-1)![1];
    this.expect(many ? ']]' : ']');
    const table = descend(root, steps);
    if (many) return add(table.items, { ...last, keys: new Map(), items: [] });
    // Tables inside may have come first; the header says where the table itself is.
    table.line = last.line;
    return table;
  }

  pair(into: TomlPlace): void {
    const steps = this.key();
    this.expect('=');
    this.skip(SPACE);
    this.value(descend(into, steps));
  }

  value(place: TomlPlace): void {
    const sign = this.sign();
    if (sign === '"' || sign === "'") this.quoted();
    else if (sign === '[') this.inside(']', () => this.value(add(place.items, this.here())));
    else if (sign === '{') this.inside('}', () => this.pair(place));
    else this.skip(SCALAR);
  }

  inside(end: string, one: () => void): void {
    this.at++;
    for (this.skip(BLANK); this.sign() !== end; this.skip(BLANK)) {
      one();
      this.skip(BLANK);
      if (this.sign() !== end) this.expect(',');
    }
    this.at++;
  }

  /** The steps of a dotted key, each with its place. */
  key(): [string, TomlPlace][] {
    const steps: [string, TomlPlace][] = [];
    for (;;) {
      this.skip(SPACE);
      const place = this.here();
      const from = this.at;
      const sign = this.sign();
      if (sign === '"' || sign === "'") steps.push([this.quoted(), place]);
      else {
        this.skip(BARE);
        if (this.at === from) throw new Error(`TOML: a key expected at offset ${from}`);
        steps.push([this.text.slice(from, this.at), place]);
      }
      this.skip(SPACE);
      if (this.sign() !== '.') return steps;
      this.at++;
    }
  }

  quoted(): string {
    const sign = this.sign()!;
    const many = this.text.startsWith(sign.repeat(3), this.at);
    const end = many ? sign.repeat(3) : sign;
    this.at += end.length;
    const from = this.at;
    while (!this.text.startsWith(end, this.at)) {
      if (this.at >= this.text.length) throw new Error('TOML: a text without an end');
      this.at += sign === '"' && this.sign() === '\\' ? 2 : 1;
    }
    const inside = this.text.slice(from, this.at);
    this.at += end.length;
    // Up to two more quotes still belong to a text of several lines.
    for (let more = 0; many && more < 2 && this.sign() === sign; more++) this.at++;
    return sign === '"' ? unescaped(inside) : inside;
  }

  sign(): string | undefined {
    return this.text[this.at];
  }

  skip(form: RegExp): void {
    form.lastIndex = this.at;
    this.at += form.exec(this.text)?.[0].length ?? 0;
  }

  expect(sign: string): void {
    if (!this.text.startsWith(sign, this.at)) throw new Error(`TOML: ${sign} expected at offset ${this.at}`);
    this.at += sign.length;
  }

  /** A new place where the walk stands. Places are made in the order of the text, so lines are counted once. */
  here(): TomlPlace {
    for (; this.counted < this.at; this.counted++) if (this.text[this.counted] === '\n') this.line++;
    return { line: this.line, keys: new Map(), items: [] };
  }
}

function add(items: TomlPlace[], item: TomlPlace): TomlPlace {
  items.push(item);
  return item;
}

/** Follows the steps, making what is not there yet; through a list of tables it goes by the last one. */
function descend(from: TomlPlace, steps: [string, TomlPlace][]): TomlPlace {
  let place = from;
  for (const [name, made] of steps) {
    const holder = place.items.at(-1) ?? place;
    const known = holder.keys.get(name);
    if (known === undefined) holder.keys.set(name, made);
    place = known ?? made;
  }
  return place;
}

const ESCAPES: Record<string, string> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\x1b' };

function unescaped(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))/gs,
    (_, four?: string, eight?: string, two?: string, sign?: string) =>
      sign === undefined
        ? String.fromCodePoint(Number.parseInt(four ?? eight ?? two ?? '0', 16))
        : (ESCAPES[sign] ?? sign),
  );
}
