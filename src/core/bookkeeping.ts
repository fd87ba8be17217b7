/**
 * Which files are notes, task lists and logs by their names alone: writing them is no evidence of work. Notes
 * and lists of things to do are work where somebody asked for them.
 */

/** Of the loop, whoever asks. */
const LOOP =
  /^(?:(?:ralph|notes)\/)?(?:progress\.(?:txt|md)|scratchpad\.md|memories\.md|activity\.(?:log|md))$|^(?:\.ralph|\.ralph-sessions|ralph\/logs)\/|^logs\/(?:[^.]+|.*\.(?:log|txt|md|jsonl?|csv|out|err))$|^[^/]+\.log$/;
/** Of people and agents alike. */
const NOTES = /^(?:ralph\/)?(?:notes?|todos?)\.(?:txt|md)$|^notes\/[^/]+\.(?:txt|md)$/i;

/** `name` is relative to the project's folder; `asked`: the words of the tasks, looked at only where they matter. */
export function isBookName(name: string, asked: () => string): boolean {
  if (LOOP.test(name)) return true;
  return NOTES.test(name) && !asksFor(asked(), name);
}

/** Whether these words speak of notes, of a list of things to do, or of that file. */
function asksFor(words: string, name: string): boolean {
  const file = name.slice(name.lastIndexOf('/') + 1).toLowerCase();
  const kind = /^(?:ralph\/)?todo/i.test(name) ? /\bto-?dos?\b/i : /\bnotes?\b|\bnotizen?\b|\bnotas?\b/i;
  return kind.test(words) || words.toLowerCase().includes(file);
}
