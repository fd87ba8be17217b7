/**
 * HOW TO REPORT: the contract of the last message. No line of it may be a valid claim by itself,
 * because agents do echo their instructions: tags stand inside sentences, and the sample object holds
 * the list of words where one word belongs.
 */
import { MODES } from '../role.ts';
import { inertLine } from './inert.ts';
import type { PromptHat, PromptInput } from './input.ts';
import { aboutResult, sampleResult } from './sample-result.ts';

/** The text of the section, without its heading. */
export function howToReport(input: PromptInput): string {
  return [...lastMessage(input), '', ...blockers(), '', ...commands(input), '', ...limits(input)].join('\n');
}

function lastMessage(input: PromptInput): string[] {
  const word = inertLine(input.completionWord ?? '', null);
  const alias = word === '' ? '' : ` (or the word \`${word}\` alone on its line)`;
  const lines = [
    'End with one message that holds a fenced block of type `json` with this object. Only the last message of the call is read. In `status`, write one of the four words:',
    '',
    '```json',
    JSON.stringify(sampleResult(input), null, 2),
    '```',
    '',
  ];
  const told = aboutResult(input);
  if (told !== '') lines.push(told);
  if (MODES[input.mode].owes !== 'verdict') {
    lines.push(
      `When, and only when, the work is complete and verified, also put the tag \`<promise>COMPLETE</promise>\` alone on a line at the end of that message${alias}. It claims the ${claimed(input)} of this call. If the work is not complete, leave the tag out and say what is missing.`,
    );
  }
  return lines;
}

function claimed({ mode }: PromptInput): string {
  return MODES[mode].owes === 'works' ? 'work' : 'task';
}

function blockers(): string[] {
  return [
    'Two tags stop the loop until a person acts. They are for genuine blockers only, after all alternatives are exhausted, and never a way around a hard task:',
    '- `<promise>BLOCKED:<reason></promise>`: you cannot go on (a missing credential, a service that is down). Say what you tried and what would clear it.',
    '- `<promise>DECIDE:<question></promise>`: a person has to choose between alternatives. Name them and what each would cost.',
    'Either stands alone on its own line of the last message, with your words in place of the part in angle brackets. An empty reason is no signal.',
  ];
}

function commands(input: PromptInput): string[] {
  const { publishes = null, outboxPath, looksForSignals } = input;
  const lines = [
    'The same object can be handed in with `ralph emit ralph.result \'{…}\' --payload-json`, which counts more than the message. `ralph emit TOPIC "text"` publishes a topic to other roles.',
  ];
  if (looksForSignals === true) {
    lines.push(
      'Between two steps of your work, and once more before you report, run `ralph tools signals`: it shows what people have said to you since this prompt. Follow it as the guidance above; what it shows counts as read.',
    );
  }
  if (input.hat !== undefined) lines.push(...handingOn(input.hat));
  if (publishes !== null) {
    const topics = publishes.map((topic) => `\`${inertLine(topic, null)}\``).join(', ');
    lines.push(
      `You may publish ${topics === '' ? 'no topics' : `only ${topics}`}. Other topics are refused.`,
    );
  }
  if (outboxPath !== undefined && outboxPath !== '') {
    lines.push(
      `Without the command, append a line {"topic":…,"payload":…,"token":…} to ${inertLine(outboxPath, null)}, with the value of $RALPH_RUN_TOKEN as token. Lines without it are refused.`,
    );
  }
  return lines;
}

/** Which topic wakes whom, and what happens without one. */
function handingOn({ listeners, preset, missing }: PromptHat): string[] {
  const code = (text: string) => `\`${inertLine(text, null)}\``;
  const wakes = listeners
    .slice(0, MOST_LISTENERS)
    .map(({ topic, role }) => `${code(topic)} wakes ${inertLine(role, null)}`);
  return [
    ...(wakes.length === 0 ? [] : [`Of the topics, ${wakes.join(', ')}.`]),
    ...(preset === null
      ? []
      : [`Where you publish none and your work stands, ${code(preset)} is published for you.`]),
    ...(missing.length === 0
      ? []
      : [`Nothing is complete before ${missing.map(code).join(' and ')} was published.`]),
  ];
}

const MOST_LISTENERS = 40;

function limits({ allowance, attempt }: PromptInput): string[] {
  return [
    `Time: this call may take ${duration(allowance.wallMs)}, and it is ended after ${duration(allowance.idleMs)} without any output or file change. Keep finished work on disk as you go: what stands when time runs out is kept. This is attempt ${attempt}.`,
  ];
}

/** Whole minutes where that is exact enough, seconds below two minutes, tenths below ten seconds. */
export function duration(ms: number): string {
  const tenths = Math.max(0.1, Math.round(ms / 100) / 10);
  if (tenths < 10) return tenths === 1 ? '1 second' : `${tenths} seconds`;
  const seconds = Math.round(ms / 1000);
  return seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`;
}
