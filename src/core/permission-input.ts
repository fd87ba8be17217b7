/** What a tool is given, as the command lines and the texts in it that rules are held against. */

export interface Given {
  commands: string[];
  texts: string[];
  /** There is no more than this. */
  isAll: boolean;
}

const COMMAND = /^(?:cmd|command|commands|script|shell|program|executable)$/i;
const ARGUMENTS = /^(?:args|argv|arguments)$/i;
/** So many texts are read, and so deep. */
const MOST_TEXTS = 500;
const MOST_DEPTH = 10;

const isText = (value: unknown): value is string => typeof value === 'string';
const lineIn = (value: unknown): string[] =>
  isText(value) ? [value] : Array.isArray(value) ? [value.filter(isText).join(' ')] : [];

/** A program and its words may stand in two fields: `{ command: 'git', args: ['push'] }`. */
function linesIn(input: Readonly<Record<string, unknown>>): string[] {
  const of = (key: RegExp) =>
    Object.keys(input)
      .filter((name) => key.test(name))
      .flatMap((name) => lineIn(input[name]));
  const words = of(ARGUMENTS);
  return of(COMMAND).flatMap((line) => [line, ...words.map((more) => `${line} ${more}`)]);
}

export function givenIn(input: Readonly<Record<string, unknown>>): Given {
  const given: Given = { commands: [], texts: [], isAll: true };
  const look = (value: unknown, depth: number): void => {
    if (depth > MOST_DEPTH || given.texts.length >= MOST_TEXTS) given.isAll = false;
    else if (isText(value)) given.texts.push(value);
    else if (typeof value === 'object' && value !== null) {
      if (!Array.isArray(value)) given.commands.push(...linesIn(value as Record<string, unknown>));
      for (const one of Object.values(value)) look(one, depth + 1);
    }
  };
  look(input, 0);
  return given;
}
