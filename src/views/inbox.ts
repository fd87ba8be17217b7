/** The open questions: what a person is waited for, as data and as text. */
import { openQuestions, type Question, type QuestionState, type State } from '../core/index.ts';
import { type StagedJson, type StagedNote, stagedJson, stagedLines } from './knowledge.ts';
import { answerHint } from './next.ts';
import { count, iso, oneLine, plain, until } from './words.ts';

/** One question as `inbox --json` and `status --json` print it. Optional keys are absent where empty. */
export interface QuestionJson {
  id: string;
  kind: Question['kind'];
  about: string;
  text: string;
  options?: { key: string; text: string }[];
  default?: string;
  hold: Question['hold'];
  /** UTC, ISO 8601. */
  deadline?: string;
  on_timeout: Question['onTimeout'];
  askedBy: string;
  iteration: number | null;
  asked_at: string | null;
  /** Came as a file while an agent ran, so it was not taken. */
  unconfirmed?: { text: string; from: string };
  /** The notes that an approval is about. */
  staged?: StagedJson[];
}

export function questionJson({ question, unconfirmed }: QuestionState): QuestionJson {
  const deadline = question.deadline === null ? null : iso(question.deadline);
  return {
    id: question.id,
    kind: question.kind,
    about: question.about,
    text: question.text,
    ...(question.options.length > 0 ? { options: question.options } : {}),
    ...(question.default === null ? {} : { default: question.default }),
    hold: question.hold,
    ...(deadline === null ? {} : { deadline }),
    on_timeout: question.onTimeout,
    askedBy: question.askedBy,
    iteration: question.iteration,
    asked_at: iso(question.askedAt),
    ...(unconfirmed === undefined ? {} : { unconfirmed }),
  };
}

/** Open questions, the one that decides the exit code first. `staged`: the notes an approval is about. */
export function inboxJson(state: State, staged: readonly StagedNote[] = []): QuestionJson[] {
  return openQuestions(state).map((entry) => ({
    ...questionJson(entry),
    ...(isAbout(entry, state) && staged.length > 0 ? { staged: staged.map(stagedJson) } : {}),
  }));
}

export function inboxText(state: State, now: number, staged: readonly StagedNote[] = []): string {
  const open = openQuestions(state);
  if (open.length === 0) return 'No question is open.';
  return open
    .map((entry) => {
      const lines = questionText(entry, { state, now });
      if (!isAbout(entry, state)) return lines.join('\n');
      // The last line says how to answer.
      return [
        ...lines.slice(0, -1),
        ...stagedLines(staged, state).map((line) => `   ${line}`),
        lines.at(-1),
      ].join('\n');
    })
    .join('\n\n');
}

/** A loop of another work tree, which waits for a person. */
interface Asking {
  name: string;
  live: boolean;
  state: State;
}

/** That loops beside this one ask, in a line each. */
export function besideLines(loops: readonly Asking[]): string[] {
  return loops.map(
    ({ name, state }) =>
      `loop @${name} asks too: ${count(state.openQuestions.size, 'open question')}; \`ralph inbox\` shows all`,
  );
}

/** What the loops beside this one ask, under their names. */
export function besideText(loops: readonly Asking[], now: number): string {
  return loops
    .map(({ name, live, state }) => {
      const rest = live ? '' : ' (does not run now)';
      // Its commands name a loop by themselves; those of a plain work tree do not.
      const named = state.policy?.loop === undefined ? `; add --session @${name} to these commands` : '';
      return `Loop @${name}${rest} asks${named}:\n\n${inboxText(state, now)}`;
    })
    .join('\n\n');
}

function isAbout({ question }: QuestionState, { cycleWork }: State): boolean {
  return question.id === cycleWork.approval;
}

const ON_TIMEOUT: Record<Question['onTimeout'], string> = {
  proceed: 'then the work goes on without an answer',
  default: 'then the default is taken',
  carry: 'then it is carried into the next cycle',
  re_ask: 'then it is asked again',
  stop: 'then the run stops',
};

/** A question on a few lines: text, options, what silence means, how to answer. */
export function questionText(
  { question, unconfirmed }: QuestionState,
  { state, now }: { state: Pick<State, 'policy'>; now: number },
): string[] {
  const { id, kind, about, text, options, hold, deadline } = question;
  const asker = question.iteration === null ? '' : `, asked in iteration ${question.iteration}`;
  const holds = hold === 'session' ? 'holds the session' : `holds ${oneLine(about, 60)} only`;
  const lines = [`${id} · ${kind} about ${oneLine(about, 60)}${asker} · ${holds}`];
  for (const line of plain(text, 2_000).split('\n').slice(0, 20)) lines.push(`   ${line}`);
  for (const { key, text: words } of options.slice(0, 26))
    lines.push(`   ${oneLine(key, 12)}) ${oneLine(words)}`);
  if (question.default !== null) lines.push(`   default: ${oneLine(question.default)}`);
  if (deadline !== null) lines.push(`   deadline ${until(deadline, now)}, ${ON_TIMEOUT[question.onTimeout]}`);
  if (unconfirmed !== undefined)
    lines.push(
      `   not taken, as it came as a file while an agent was running: “${oneLine(unconfirmed.text)}” from ${oneLine(unconfirmed.from, 60)}; if it is a person's, give it again`,
    );
  lines.push(
    `   ${answerHint(question, state)}, or in ralph/${kind === 'blocker' ? 'blocked.txt' : 'decide.txt'}`,
  );
  return lines;
}
