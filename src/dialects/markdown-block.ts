/** What a Markdown text is made of, as far as work can stand in it: headings, list items, paragraph lines. */

/** What stands between the brackets of a checkbox, with the offsets of that. */
export interface Box {
  inner: string;
  start: number;
  end: number;
  /** `[DONE <!-- was: WIP -->]`: where the comment ends, and the word it remembers. */
  memory?: { end: number; was: string };
}

export type Block =
  | {
      kind: 'heading';
      level: number;
      text: string;
      line: number;
      /** Offset of the line's first character. */
      lineStart: number;
      /** Offsets of the text. */
      start: number;
      end: number;
    }
  | {
      kind: 'item';
      /** Enclosing list items. */
      depth: number;
      box: Box | null;
      /** Of a numbered item; null for a bullet. */
      number: number | null;
      /** The first line, without bullet and checkbox. */
      text: string;
      line: number;
      /** Offset of the line's first character. */
      start: number;
      /** Offset where `text` begins. */
      at: number;
    }
  | {
      kind: 'text';
      depth: number;
      text: string;
      line: number;
      /** True when it goes on with the item or paragraph line before it. */
      continues: boolean;
      /** Offset where `text` begins. */
      at: number;
    };
