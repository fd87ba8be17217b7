/** Text as a terminal may have it: what would steer it, or hide and reorder what is read, is taken out. */

/** Escape sequences: CSI, then OSC/DCS/PM/APC/SOS up to their end, then any other two-character one. */
const SEQUENCES =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u009b[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f]{0,4096}(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]?/g;
/** Control characters other than tab and line feed, and marks that reorder or hide text. */
const CONTROLS =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Halves of a surrogate pair, which no terminal can print. */
const HALVES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Printed on every terminal as it is; by far the most of all text. */
const HARMLESS = /^[ -~\n]*$/;

export function printable(text: string): string {
  if (HARMLESS.test(text)) return text;
  return text.replace(/\r\n?/g, '\n').replace(SEQUENCES, '').replace(CONTROLS, '').replace(HALVES, '\ufffd');
}
