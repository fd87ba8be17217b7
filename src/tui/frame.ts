/** The live frame as plain data: its lines and their tone. What draws them knows nothing of Ralph. */
import {
  type AttemptState,
  commandFor,
  costSource,
  type GateResult,
  keepsWorks,
  openQuestions,
  type Spent,
  type State,
  sumOf,
} from '../core/index.ts';
import {
  answerHint,
  duration,
  liveCallWords,
  markedTasks,
  nextWords,
  noTasksYet,
  oneLine,
  phaseWords,
  price,
  span,
  stories,
  tally,
  until,
} from '../views/index.ts';
import { emptyNotes, type Notes } from './notes.ts';
import { NARROW_COLUMNS } from './terminal.ts';

export type Tone = 'title' | 'text' | 'dim' | 'good' | 'bad' | 'ask';

export interface FrameLine {
  tone: Tone;
  /** One line, safe for a terminal; what is too wide is cut when it is drawn. */
  text: string;
}

export interface FrameInput {
  state: State;
  /** Epoch ms. */
  now: number;
  notes: ReadonlyMap<number, Notes>;
  columns: number;
  rows: number;
  runner: { pid: number; host: string; startedAt: number } | null;
}

/** At most so many running iterations and questions are shown; the rest is counted. */
const MAX_SHOWN = 4;
const MAX_TASKS = 8;

/** The frame, always lower than the terminal: one that fills it would scroll with every change. */
export function frameOf(input: FrameInput): FrameLine[] {
  const { columns, rows } = input;
  const room = Math.max(1, rows - 2);
  if (columns < NARROW_COLUMNS) return [narrow(input)].slice(0, room);
  const running = [...input.state.open].flatMap((iteration) => input.state.attempts.get(iteration) ?? []);
  const fixed = [
    head(input),
    ...stage(input),
    ...idle(input, running),
    ...running.slice(0, MAX_SHOWN).flatMap((a) => attemptLines(input, a)),
  ];
  if (running.length > MAX_SHOWN) fixed.push({ tone: 'dim', text: `and ${running.length - MAX_SHOWN} more` });
  const asked = questionLines(input);
  const free = Math.min(8, room - fixed.length - asked.length);
  return [...fixed, ...(free > 0 ? said(input, running).slice(-free) : []), ...asked].slice(0, room);
}

function narrow({ state, now }: FrameInput): FrameLine {
  const { done, total } = stories(state);
  const attempt = state.attempts.get([...state.open].at(-1) ?? 0);
  const what = attempt ? ` ${attempt.iteration} ${duration(now - attempt.startedAt)}` : '';
  const asks = state.openQuestions.size > 0 ? ` ?${state.openQuestions.size}` : '';
  return { tone: asks === '' ? 'text' : 'ask', text: `${done}/${total}${what}${asks}` };
}

function head({ state, notes }: FrameInput): FrameLine {
  const { done, total } = stories(state);
  const prices: Spent[] = [state];
  let tokens = state.tokens.input + state.tokens.output;
  for (const iteration of state.open) {
    if (state.attempts.get(iteration)?.state !== 'open') continue;
    const live = notes.get(iteration);
    if (live) prices.push(live.bill);
    tokens += live?.tokens ?? 0;
  }
  const sum = sumOf(...prices);
  const max = state.policy?.limits.maxStuck ?? 0;
  const parts = [
    state.session?.id ?? 'no session',
    state.paused ? 'PAUSED' : state.phase,
    ...(keepsWorks(state) ? [`cycle ${state.cycle}`] : []),
    noTasksYet(state) ?? `tasks ${done}/${total}`,
    `stuck ${state.stuck}${max > 0 ? `/${max}` : ''}`,
    price(sum.costUsd, costSource(sum)),
    `${tally(tokens)} tokens`,
  ];
  return { tone: 'title', text: parts.join(' · ') };
}

/** Where several roles are at work: what the phase is about, and every task with its marker. */
function stage({ state }: FrameInput): FrameLine[] {
  const words = phaseWords(state);
  if (words === null) return [];
  const shown = markedTasks(state, MAX_TASKS);
  const more = state.tasks.size - shown.length;
  const tasks = shown.map(({ task, marker }) => `${marker} ${oneLine(task.def.id, 30)}`);
  if (more > 0) tasks.push(`and ${more} more`);
  const lines: FrameLine[] = [{ tone: 'text', text: oneLine(words, 300) }];
  return shown.length === 0 ? lines : [...lines, { tone: 'dim', text: tasks.join(' · ') }];
}

/** Without a running agent: what happens instead. */
function idle({ state, now, runner }: FrameInput, running: AttemptState[]): FrameLine[] {
  if (running.length > 0) return [];
  const exit = runner === null ? state.run?.stopped : null;
  const ended: FrameLine[] = exit
    ? [
        {
          tone: exit.code === 0 ? 'good' : 'bad',
          text: `${exit.word} (exit ${exit.code}): ${oneLine(exit.reason, 300)}`,
        },
      ]
    : [];
  return [...ended, { tone: 'dim', text: nextWords(state, now, { runner }) }];
}

function attemptLines({ state, now, notes }: FrameInput, attempt: AttemptState): FrameLine[] {
  const { iteration, item, allowance } = attempt;
  const { call, since } = liveCallWords(state, attempt);
  const title = oneLine(state.tasks.get(item.task ?? '')?.def.title ?? '', 60);
  const spent = now - attempt.startedAt;
  const time = attempt.state === 'ended' ? 'being judged' : `${duration(spent)} of ${span(allowance.wallMs)}`;
  const lines: FrameLine[] = [
    {
      tone: attempt.state === 'open' && spent > allowance.wallMs * 0.9 ? 'bad' : 'text',
      text: `iteration ${iteration} · ${call}${title === '' ? '' : ` “${title}”`} · attempt ${attempt.attempt}${since} · ${time}`,
    },
  ];
  if (attempt.gates.length > 0) lines.push(gatesLine(attempt.gates));
  const { tool, retry } = notes.get(iteration) ?? emptyNotes();
  if (retry !== null) lines.push({ tone: 'bad', text: `provider: ${retry}` });
  else if (tool !== null && attempt.state === 'open') lines.push({ tone: 'dim', text: `tool: ${tool}` });
  return lines;
}

function gatesLine(gates: readonly GateResult[]): FrameLine {
  const shown = gates.slice(-6).map(({ gate, outcome }) => `${oneLine(gate, 30)} ${outcome}`);
  const good = gates.every(({ outcome }) => outcome === 'passed');
  return { tone: good ? 'good' : 'bad', text: `gates: ${shown.join(' · ')}` };
}

/** The last words of whoever is at work; with several at work the newest iteration speaks. */
function said({ notes }: FrameInput, running: AttemptState[]): FrameLine[] {
  const speaker = running.findLast(({ iteration }) => (notes.get(iteration)?.lines.length ?? 0) > 0);
  const lines = speaker ? notes.get(speaker.iteration)!.lines : [];
  return lines.map((text) => ({ tone: 'dim', text: `│ ${text}` }));
}

function questionLines({ state, now }: FrameInput): FrameLine[] {
  const open = openQuestions(state);
  const lines = open.slice(0, MAX_SHOWN).flatMap(({ question }): FrameLine[] => {
    const { id, about, text, deadline } = question;
    const silence = deadline === null ? '' : ` · deadline ${until(deadline, now)}`;
    return [
      { tone: 'ask', text: `${id} about ${oneLine(about, 40)}: ${oneLine(text, 300)}` },
      { tone: 'ask', text: `   ${answerHint(question, state)}${silence}` },
    ];
  });
  if (open.length > MAX_SHOWN)
    lines.push({
      tone: 'ask',
      text: `and ${open.length - MAX_SHOWN} more: \`${commandFor(state, 'ralph inbox')}\``,
    });
  return lines;
}
