/**
 * What people say to an agent: as a section of its prompt, and as a message while it works. Their words are
 * data, labelled, fenced and inert; how to act on them is told around them.
 */
import { MODES, type Mode } from '../role.ts';
import { fenced, inert, inertLine, shortened } from './inert.ts';
import type { PromptGuidance } from './input.ts';
import { duration } from './report.ts';

/** Characters before escaping: of everything, and of one message. */
const ALL = 10_000;
export const GUIDANCE_EACH = 4_000;

/** Whom the guidance is for. */
export interface Guided {
  mode: Mode;
  completionWord: string | null;
}

/** The section ROBOT GUIDANCE, without its heading; empty where nobody said anything. */
export function guidanceText(guidance: readonly PromptGuidance[], { mode, completionWord }: Guided): string {
  if (guidance.length === 0) return '';
  const line = (text: string, max: number) => inertLine(shortened(text, max), completionWord);
  const shown = withRoom(guidance).map(({ kind, from, at, text }) => {
    const label = kind === 'steer' ? 'changes your work' : 'a note';
    const words = quoted(text, completionWord, GUIDANCE_EACH);
    return `From ${line(from, 100)}, ${line(at, 60)} (${label}):\n${words}`;
  });
  const missing = guidance.length - shown.length;
  const steers = guidance.some(({ kind }) => kind === 'steer') && MODES[mode].role === 'executor';
  return [
    'A person who watches this session says the following, oldest first. Follow it for this work; where two pieces differ, the later one holds. It cannot change how you report.',
    ...(missing > 0
      ? [`… shortened: the oldest ${missing} of ${guidance.length} messages are left out`]
      : []),
    ...shown,
    ...(steers ? [RESPONSE] : []),
  ].join('\n\n');
}

/**
 * Those that have room together, in their order: the newest, and of them first those that `isNew` names. What
 * has none was not delivered and comes with the next prompt. At least one.
 */
export function withRoom<T extends { text: string }>(
  guidance: readonly T[],
  isNew: (one: T) => boolean = () => true,
): T[] {
  const newestFirst = [...guidance].reverse();
  const chosen = new Set<T>();
  let left = ALL;
  for (const one of [...newestFirst.filter(isNew), ...newestFirst.filter((other) => !isNew(other))]) {
    left -= Math.min(one.text.length, GUIDANCE_EACH);
    if (left < 0 && chosen.size > 0) break;
    chosen.add(one);
  }
  return guidance.filter((one) => chosen.has(one));
}

function quoted(text: string, completionWord: string | null, max: number): string {
  return fenced(inert(shortened(text.trim(), max), completionWord));
}

/** Which of the three answers is right depends on what an agent has already done: only it can tell. */
const RESPONSE = [
  'Hold what changes your work against three things: the files that are already changed for this task, its acceptance criteria, and what the task is for. Then do one of these, and name it in the result object as `steer_response`:',
  '- `restart`: it contradicts work that is already there. Do that part again from the beginning, and let the summary begin with "Restarted due to STEER:" and the guidance in short.',
  '- `adjust`: it adds to the work or narrows it. Take it up and go on from where you are.',
  '- `scope_change`: it makes another task of this one. Change nothing more; end with the status `blocked` and one blocker that begins with "STEER scope change:" and says what the task would be now. Neither pass over it nor redefine the task yourself.',
].join('\n');

/** What an agent is told while it works. `urgent`: it was interrupted for it. */
export function liveGuidance(
  guidance: readonly PromptGuidance[],
  { urgent, ...guided }: Guided & { urgent: boolean },
): string {
  const parts = ['## ROBOT GUIDANCE (arrived while you work)', guidanceText(guidance, guided)];
  if (urgent)
    parts.push(
      'What you were at was stopped so that you read this now. A command that was running may have done a part of its work: look before you run it again.',
    );
  parts.push(
    'Then go on with the work of this call and end it with the report that your instructions ask for.',
  );
  return `${parts.join('\n\n')}\n`;
}

/** What an agent is told that shall stop soon. `text`: the words of who paused, often none. */
export function stopRequest(why: {
  cause: 'pause' | 'limit';
  text: string;
  graceMs: number;
  completionWord: string | null;
}): string {
  const { cause, text, graceMs, completionWord } = why;
  const who = cause === 'pause' ? 'A person pauses this session' : 'A limit of this session is reached';
  const said =
    text.trim() === '' ? `${who}.` : `${who}, and says:\n\n${quoted(text, completionWord, GUIDANCE_EACH)}`;
  const what = `Reach a safe point within ${duration(graceMs)}, then stop: finish the edit or the command you are at, leave no file half written, and begin nothing new. End with the result object and the status \`paused\`, and let the summary say where you stand. Only where the work of this call is complete and verified by then, report it as complete instead. What still runs after that time is ended; what lies on disk is kept, and the work goes on from there later.`;
  return `## ${cause === 'pause' ? 'PAUSE' : 'STOP'} (arrived while you work)\n\n${said}\n\n${what}\n`;
}
