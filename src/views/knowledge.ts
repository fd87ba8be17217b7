/** `ralph knowledge`: the notes that a session would leave behind, and those that lie in `.docs/` already. */
import { commandFor, itemKey, type State } from '../core/index.ts';
import { count, iso, oneLine, plain } from './words.ts';

/** What became of a cycle's notes. `answered`: in words that the next run reads. */
type NoteStatus = 'waiting' | 'approved' | 'promoted' | 'skipped' | 'carried' | 'answered';

/** A staged note, held against what lies where it would go. */
export interface StagedNote {
  /** e.g. `knowledge/how-to/run.md`, below the cycle's folder. */
  path: string;
  title: string;
  category: string | null;
  /** Epoch ms. */
  stagedAt: number | null;
  /** The cycle it was first staged in, for one that was offered before. */
  carriedFrom: number | null;
  /** Where it goes, e.g. `.docs/how-to/run.md`. */
  target: string;
  /** `different`: other words stand there. `unread`: it has faults, so it stays where it is. */
  against: 'new' | 'same' | 'different' | 'unread';
  /** Lines that go (`-`) and come (`+`) where other words stand there. */
  changes: string[];
  faults: string[];
}

/** A note below `.docs/` that a session left there. */
export interface DocNote {
  path: string;
  title: string;
  session: string;
  /** It lies beside other words of the same name, and waits to be merged by hand. */
  incoming: boolean;
}

export interface Knowledge {
  staged: StagedNote[];
  docs: DocNote[];
}

function noteStatus({ cycleWork, questions, phase }: State): NoteStatus {
  if (cycleWork.done.includes(itemKey({ role: 'librarian', mode: 'PROMOTE', subject: 'session' })))
    return 'promoted';
  const asked = cycleWork.approval === null ? undefined : questions.get(cycleWork.approval);
  if (asked === undefined || asked.state === 'open') return 'waiting';
  if (asked.state !== 'answered') return 'carried';
  if (asked.option === 'SKIP' || asked.via === 'skip') return 'skipped';
  if (asked.option === 'APPROVE' || asked.via === 'approve') return 'approved';
  return phase === 'COMPLETE' ? 'skipped' : 'answered';
}

/** One staged note as `knowledge --json` and `inbox --json` print it. */
export interface StagedJson {
  path: string;
  title: string;
  category: string | null;
  staged_at: string | null;
  carried_from_iteration?: number;
  target: string;
  against: StagedNote['against'];
  changes?: string[];
  faults?: string[];
}

export function stagedJson(note: StagedNote): StagedJson {
  const { path, title, category, stagedAt, carriedFrom, target, against, changes, faults } = note;
  return {
    path,
    title,
    category,
    staged_at: stagedAt === null ? null : iso(stagedAt),
    ...(carriedFrom === null ? {} : { carried_from_iteration: carriedFrom }),
    target,
    against,
    ...(changes.length === 0 ? {} : { changes }),
    ...(faults.length === 0 ? {} : { faults }),
  };
}

export interface KnowledgeJson {
  session_id: string;
  iteration: number;
  staged: (StagedJson & { status: NoteStatus })[];
  docs: { path: string; title: string; source_session: string; incoming: boolean }[];
}

export function knowledgeJson(state: State, { staged, docs }: Knowledge): KnowledgeJson {
  const status = noteStatus(state);
  return {
    session_id: state.session?.id ?? '',
    iteration: state.cycle,
    staged: staged.map((note) => ({ ...stagedJson(note), status })),
    docs: docs.map(({ path, title, session, incoming }) => ({
      path,
      title,
      source_session: session,
      incoming,
    })),
  };
}

const statusWords = (status: NoteStatus, state: State): string =>
  STATUS_WORDS[status].replace('ralph run', commandFor(state, 'ralph run'));

const STATUS_WORDS: Record<NoteStatus, string> = {
  waiting: 'waiting for a yes or no',
  approved: 'approved; `ralph run` puts them into .docs/',
  promoted: 'put into .docs/',
  skipped: 'left in the session',
  carried: 'not decided on; offered again in the next cycle',
  answered: 'answered; `ralph run` reads the answer',
};

export function knowledgeText(state: State, { staged, docs }: Knowledge): string {
  const status = noteStatus(state);
  const lines: string[] = [];
  if (staged.length === 0) lines.push(`No note is staged in cycle ${state.cycle}.`);
  else lines.push(`Cycle ${state.cycle}, ${count(staged.length, 'note')} ${statusWords(status, state)}:`);
  for (const note of staged) lines.push(`   ${noteLine(note)}`);
  if (status === 'waiting' && state.cycleWork.approval !== null && staged.length > 0)
    lines.push(
      `   \`${commandFor(state, 'ralph knowledge show NAME')}\` to read one, then \`${commandFor(state, 'ralph approve')}\` or \`${commandFor(state, 'ralph skip')}\``,
    );
  if (docs.length === 0) lines.push('No note of a session lies in .docs/.');
  else lines.push(`In .docs/, ${count(docs.length, 'note')} of sessions:`);
  for (const { path, title, session, incoming } of docs) {
    const merge = incoming ? ' · to be merged by hand with what lies beside it' : '';
    lines.push(`   ${oneLine(path, 120)} · ${oneLine(title, 80)} · session ${oneLine(session, 40)}${merge}`);
  }
  return lines.join('\n');
}

function noteLine(note: StagedNote): string {
  const { path, title, carriedFrom } = note;
  const from = carriedFrom === null ? '' : ` · first staged in cycle ${carriedFrom}`;
  return `${oneLine(path, 120)} · ${oneLine(title, 80)} · ${againstWords(note)}${from}`;
}

function againstWords({ against, target, faults }: StagedNote): string {
  const to = oneLine(target, 120);
  if (against === 'new') return `new: ${to}`;
  if (against === 'same') return `there already: ${to}`;
  if (against === 'unread') return `stays in the session: ${oneLine(faults[0] ?? '')}`;
  return `other words stand there, so it goes beside them: ${to}`;
}

/** How much of a difference stands in the inbox. */
const CHANGES_SHOWN = 6;
const NOTES_SHOWN = 20;

/** What an approval is about, on a few lines for each note. */
export function stagedLines(staged: readonly StagedNote[], state: Pick<State, 'policy'>): string[] {
  const lines = staged.slice(0, NOTES_SHOWN).flatMap((note) => {
    const { changes } = note;
    const shown = changes.slice(0, CHANGES_SHOWN).map((line) => `      ${oneLine(line, 120)}`);
    const more = changes.length - shown.length;
    return [noteLine(note), ...shown, ...(more > 0 ? [`      … and ${count(more, 'more line')}`] : [])];
  });
  if (staged.length > NOTES_SHOWN)
    lines.push(
      `and ${staged.length - NOTES_SHOWN} more: \`${commandFor(state, 'ralph knowledge')}\` lists them all`,
    );
  return lines;
}

/** One note in full, with what would change where it goes. */
export function noteText(note: { title: string; text: string; staged?: StagedNote; path: string }): string {
  const { staged, path, text } = note;
  const head = staged === undefined ? `${oneLine(path, 120)} · ${oneLine(note.title, 80)}` : noteLine(staged);
  const changes = staged?.changes ?? [];
  const diff = changes.length === 0 ? [] : ['', 'Against what stands there:', ...changes.slice(0, 100)];
  return [head, '', plain(text, 60_000).trimEnd(), ...diff.map((line) => plain(line, 400))].join('\n');
}
