/**
 * Makes other people's words safe to stand in a prompt. A passage of guidance, a task or a memory may
 * hold a promise tag or a status marker; an agent that repeats it must not thereby claim anything. So
 * tags and markers are escaped, long texts are cut with an honest mark, and a fence is longer than any
 * fence inside it.
 */
import { plainText } from '../final-message.ts';

/** Text whose tags, status markers and lone completion words no longer read as claims. */
export function inert(text: string, completionWord: string | null): string {
  const word = completionWord?.trim() ?? '';
  return plainText(text)
    .replace(/<(?=\/?(?:promise|robot-skill|ralph-tools-skill)>)/gi, '\\<')
    .replace(/EXIT_SIGNAL/gi, (said) => said.replace('_', '\\_'))
    .replace(/RALPH_STATUS/gi, (said) => said.replace('_', '\\_'))
    .split('\n')
    .map((line) => (word !== '' && line.trim() === word ? line.replace(word, `\\${word}`) : line))
    .join('\n');
}

/** As `inert`, on one line. */
export function inertLine(text: string, completionWord: string | null): string {
  return inert(text, completionWord).replace(/\s+/g, ' ').trim();
}

/**
 * The first `maxChars` characters, or the last with `keep: 'end'`, and a mark that tells how much was
 * left out. Cuts at a line end where one is near, never inside a character.
 */
export function shortened(text: string, maxChars: number, keep: 'start' | 'end' = 'start'): string {
  if (text.length <= maxChars) return text;
  const mark = (shown: number) => `… shortened: ${shown} of ${text.length} characters shown`;
  if (keep === 'end') {
    const tail = text.slice(-maxChars).replace(/^[\udc00-\udfff]/, '');
    const line = tail.indexOf('\n');
    const kept = line >= 0 && line < maxChars / 5 ? tail.slice(line + 1) : tail;
    return `${mark(kept.length)}\n${kept}`;
  }
  const head = text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '');
  const line = head.lastIndexOf('\n');
  const kept = line > (maxChars * 4) / 5 ? head.slice(0, line) : head;
  return `${kept}\n${mark(kept.length)}`;
}

/** The text between fences that nothing inside it can close. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
