/**
 * The mirrors: files drawn from the journal for people and for tools that read the formats of other
 * loops. Delete one and the next redraw brings it back; edit one and it is drawn again. Nothing here is
 * state, so a full disk costs a warning and not the run.
 */
import { join } from 'node:path';
import { type Fact, type JournalRecord, Problem, type State, tasksOfCycle } from '../core/index.ts';
import { writeCycleMetadata, writeSessionMetadata } from '../dialects/index.ts';
import type { Mirrors, ProgressEdit } from '../engine/index.ts';
import { metadataStatus, tasksSummary } from '../views/index.ts';
import { errorCode } from './disk.ts';
import { scanJournal } from './follow.ts';
import { cycleMetadata, drawClosed } from './mirror-cycles.ts';
import { EVENTS_SHAPE, type MirrorShape, PROFILES_SHAPE, setDamagedAside } from './mirror-damage.ts';
import { type GrowingMirror, growingMirror, type WholeMirror, wholeMirror } from './mirror-file.ts';
import { type ProgressMirror, progressMirror } from './mirror-progress.ts';
import {
  feedbackText,
  type LoopRow,
  loopsText,
  metricsText,
  type ProjectNotes,
  projectNotes,
} from './mirror-project.ts';
import { newTelling, summaryCsv, type Telling, takeLines, tellRecord } from './mirror-rows.ts';
import { ensureProjectFolder } from './sessions.ts';

export interface MirrorsOptions {
  sessionDir: string;
  /** The main checkout: `.ralph/` lies there. */
  mainDir: string;
  /** The loop that draws the project's mirrors; the others only add to the project journal. Default true. */
  primary?: boolean;
  /** The loops of the project, with this session as in its state; without it `loops.json` is not drawn. */
  loops?: (own: State) => Promise<LoopRow[]>;
  /** Told once when mirrors cannot be drawn, and about edits of a mirror. */
  warn: (text: string) => void;
  /** Least time between two drawings; what comes sooner is drawn when it is over. Default one second. */
  restMs?: number;
}

/** What the next drawing has to look at. */
interface Due {
  state: State;
  /** Types of the facts since the last drawing. */
  types: Set<Fact['type']>;
  /** Tasks whose line may be different; null: any. */
  touched: Set<string> | null;
}

/** What the session's owner does with its mirrors beside having them drawn. */
interface SessionMirrors {
  /** A record that was there when the session was opened. */
  tell(record: JournalRecord): void;
  /** Draws what is still due, unless told not to, and nothing after. */
  close(options?: { draw: boolean }): Promise<void>;
}

interface Drawer {
  sessionDir: string;
  mainDir: string;
  primary: boolean;
  loops: MirrorsOptions['loops'];
  warn: (text: string) => void;
  telling: Telling;
  files: Map<string, WholeMirror>;
  summary: GrowingMirror;
  topics: GrowingMirror;
  notes: ProjectNotes;
  /** What metadata.yaml said when it was last drawn, without its version and time. */
  keys: Map<string, string>;
  warned: Set<string>;
  progress: ProgressMirror;
  /** The lines in hand are all there are, so a lost file needs no reading of the journal. */
  allInHand: boolean;
  drawnOnce: boolean;
  restMs: number;
  /** Epoch ms. */
  drawnAt: number;
  due: Due | null;
  timer: NodeJS.Timeout | null;
  /** One drawing after the other. */
  drawing: Promise<void>;
  /** Mirrors that failed are left alone until then. Epoch ms. */
  restUntil: Map<string, number>;
}

const REST_MS = 1_000;
const FAILED_REST_MS = 10_000;
const PROGRESS = 'progress.md';
/** Where no policy says for how long events are shown. */
const ROTATION_DAYS = 30;

/**
 * The mirrors of one session. Every record is told once, in order: by `tell` while the journal is read,
 * then by `redraw`. Where some are missing the journal is read again.
 */
export function openMirrors(options: MirrorsOptions): Mirrors & SessionMirrors {
  const { sessionDir, mainDir, primary = true, loops, warn, restMs = REST_MS } = options;
  const drawer: Drawer = {
    sessionDir,
    mainDir,
    primary,
    loops,
    warn,
    telling: newTelling(),
    files: new Map(),
    summary: summaryMirror(sessionDir),
    topics: topicsMirror(sessionDir),
    notes: projectNotes(mainDir, () => drawer.telling.story.state.session?.id ?? ''),
    keys: new Map(),
    warned: new Set(),
    progress: progressMirror(sessionDir, (file) => mirrorAt(drawer, file)),
    allInHand: true,
    drawnOnce: false,
    restMs,
    drawnAt: 0,
    due: null,
    timer: null,
    drawing: Promise.resolve(),
    restUntil: new Map(),
  };
  return {
    tell: (record) => tellRecord(drawer.telling, record),
    redraw: (state, records) => redraw(drawer, state, records),
    async edited(state) {
      let found: ProgressEdit | null = null;
      await guarded(drawer, PROGRESS, () => {
        found = drawer.progress.edited(state);
      });
      return found;
    },
    settle: (edit, keepsWords) => drawer.progress.settle(edit, keepsWords),
    close: async ({ draw } = { draw: true }) => {
      if (drawer.timer !== null) clearTimeout(drawer.timer);
      if (drawer.due !== null && draw) await drawDue(drawer);
      drawer.due = null;
      await drawer.drawing;
    },
  };
}

/**
 * Tells the records and draws, but not more often than a person can look: a loop of short iterations
 * would spend its time on files that nobody sees. The end of a run is always drawn at once.
 */
async function redraw(drawer: Drawer, state: State, records: JournalRecord[]): Promise<void> {
  if (!(await guarded(drawer, 'journal.jsonl', () => follow(drawer, records)))) return;
  collect(drawer, state, records);
  const wait = drawer.drawnAt + drawer.restMs - Date.now();
  if (wait <= 0 || wait > drawer.restMs || drawer.due?.types.has('run.stopped')) return drawDue(drawer);
  drawer.timer ??= setTimeout(() => {
    drawDue(drawer).catch((error: Error) => drawer.warn(`Status files could not be drawn: ${error.message}`));
  }, wait).unref();
}

function collect(drawer: Drawer, state: State, records: JournalRecord[]): void {
  const touched = drawer.drawnOnce ? touchedTasks(records) : null;
  const due: Due = drawer.due ?? { state, types: new Set(), touched: new Set() };
  for (const { facts } of records) for (const { type } of facts) due.types.add(type);
  due.touched = due.touched && touched && new Set([...due.touched, ...touched]);
  drawer.due = { ...due, state };
}

function drawDue(drawer: Drawer): Promise<void> {
  if (drawer.timer !== null) clearTimeout(drawer.timer);
  drawer.timer = null;
  const next = drawer.drawing.then(async () => {
    const { due } = drawer;
    drawer.due = null;
    if (due !== null) await draw(drawer, due);
  });
  drawer.drawing = next.catch(() => undefined);
  return next;
}

async function draw(drawer: Drawer, { state, types, touched }: Due): Promise<void> {
  const first = !drawer.drawnOnce;
  drawer.drawnOnce = true;
  const news = (...wanted: Fact['type'][]) => first || wanted.some((type) => types.has(type));
  await drawLines(drawer);
  await drawSession(drawer, state);
  await drawCycle(drawer, state, touched);
  await drawProject(drawer, state, news);
  drawer.drawnAt = Date.now();
}

/** The tasks whose line in progress.md these records may change; null: any of them, or the planning. */
function touchedTasks(records: JournalRecord[]): Set<string> | null {
  const tasks = new Set<string>();
  for (const fact of records.flatMap((record) => record.facts)) {
    switch (fact.type) {
      case 'task.moved':
        // What is opened again opens those that wait for it.
        if (fact.to === 'todo') return null;
        tasks.add(fact.task);
        break;
      case 'attempt.started':
      case 'verdict.reached':
        if (fact.item.task === undefined) return null;
        tasks.add(fact.item.task);
        break;
      case 'attempt.ended':
        if (fact.report.ending === 'interrupted') return null;
        break;
      case 'tasks.read':
        if (fact.set.length > 0 || fact.gone.length > 0) return null;
        break;
      case 'wave.started':
        if (fact.items.some(({ item }) => item.task === undefined)) return null;
        break;
      case 'attempt.lost':
      case 'call.passed_over':
      case 'cycle.started':
      case 'phase.entered':
      case 'abort.done':
      case 'run.started':
      case 'feedback.received':
        return null;
      default:
    }
  }
  return tasks;
}

/** Tells the records; where some are missing, everything is told anew from the journal. */
function follow(drawer: Drawer, records: JournalRecord[]): void {
  const fresh = records.filter((record) => record.seq > drawer.telling.seq);
  if (fresh.length === 0) return;
  if (fresh[0]!.seq === drawer.telling.seq + 1) {
    for (const record of fresh) tellRecord(drawer.telling, record);
    return;
  }
  drawer.telling = toldFromJournal(drawer, fresh.at(-1)!.seq);
  drawer.allInHand = true;
  drawer.summary = summaryMirror(drawer.sessionDir);
  drawer.topics = topicsMirror(drawer.sessionDir);
}

function summaryMirror(sessionDir: string): GrowingMirror {
  return growingMirror(join(sessionDir, 'logs', 'summary.csv'), sessionDir);
}

function topicsMirror(sessionDir: string): GrowingMirror {
  return growingMirror(join(sessionDir, 'events.jsonl'), sessionDir);
}

function toldFromJournal(drawer: Drawer, upTo: number): Telling {
  const telling = newTelling();
  scanJournal(join(drawer.sessionDir, 'journal.jsonl'), (record) => {
    if (record.seq <= upTo) tellRecord(telling, record);
  });
  return telling;
}

/**
 * Runs one mirror's drawing. False: it failed, which is told once, and it is left alone for a while,
 * because a full disk is not asked again at every step.
 */
async function guarded(drawer: Drawer, name: string, draw: () => void | Promise<void>): Promise<boolean> {
  if ((drawer.restUntil.get(name) ?? 0) > Date.now()) return false;
  try {
    await draw();
    drawer.restUntil.delete(name);
    return true;
  } catch (error) {
    if (errorCode(error) === '' && !(error instanceof Problem)) throw error;
    drawer.restUntil.set(name, Date.now() + FAILED_REST_MS);
    const why = error instanceof Problem ? error.facts.what : `${errorCode(error)} at ${name}`;
    const text = `Status files could not be drawn (${why}). The journal is intact; they come back when the disk takes them.`;
    warnOnce(drawer, 'failed', text);
    return false;
  }
}

function warnOnce(drawer: Drawer, key: string, text: string): void {
  if (drawer.warned.has(key)) return;
  drawer.warned.add(key);
  drawer.warn(text);
}

async function drawLines(drawer: Drawer): Promise<void> {
  const { rows, topics } = takeLines(drawer.telling);
  let all = drawer.allInHand ? { rows, topics } : null;
  drawer.allInHand = false;
  // Only a lost or changed file asks for the whole; both are then told in one reading of the journal.
  const whole = () => {
    all ??= takeLines(toldFromJournal(drawer, drawer.telling.seq));
    return all;
  };
  const summary = await guarded(drawer, 'logs/summary.csv', () =>
    drawer.summary.grow(rows, () => summaryCsv(whole().rows)),
  );
  if (!summary) drawer.summary = summaryMirror(drawer.sessionDir);
  const events = await guarded(drawer, 'events.jsonl', () =>
    drawer.topics.grow(topics, () => whole().topics),
  );
  if (!events) drawer.topics = topicsMirror(drawer.sessionDir);
}

function mirrorAt(drawer: Drawer, file: string): WholeMirror {
  const known = drawer.files.get(file);
  if (known) return known;
  const { sessionDir, mainDir } = drawer;
  const fresh = wholeMirror(file, file.startsWith(sessionDir) ? sessionDir : join(mainDir, '.ralph'));
  drawer.files.set(file, fresh);
  return fresh;
}

/** Draws a file that carries a version: anew where anything but version and time is different. */
function drawVersioned(drawer: Drawer, file: string, key: string, text: () => string): void {
  const mirror = mirrorAt(drawer, join(drawer.sessionDir, file));
  if (mirror.standing() === 'changed') warnOnce(drawer, file, `${file} ${REDRAWN}`);
  if (drawer.keys.get(file) === key && mirror.standing() !== 'unknown') return mirror.keep();
  mirror.draw(text());
  drawer.keys.set(file, key);
}

const REDRAWN =
  'was edited; it only shows what the journal says and is drawn again. To change the session use `ralph pause`, `ralph resume`, `ralph stop` or `ralph tasks`.';

async function drawSession(drawer: Drawer, state: State): Promise<void> {
  const { session } = state;
  if (session === null) return;
  const facts = {
    sessionId: session.id,
    createdAt: session.createdAt,
    cycle: state.cycle,
    phase: state.phase,
    wave: state.taskWaves,
    tasks: tasksSummary(state, tasksOfCycle(state)),
    status: metadataStatus(state),
    detail: state.paused?.text || state.run?.stopped?.reason || '',
    timezone: session.timezone,
  };
  await guarded(drawer, 'metadata.yaml', () =>
    drawVersioned(drawer, 'metadata.yaml', JSON.stringify(facts), () =>
      writeSessionMetadata({ ...facts, version: state.seq, updatedAt: state.lastAt }),
    ),
  );
}

async function drawCycle(drawer: Drawer, state: State, touched: Set<string> | null): Promise<void> {
  const { cycles } = drawer.telling;
  for (const cycle of cycles.cycles.keys()) {
    const facts = cycleMetadata(cycles, state, cycle);
    if (facts === null) continue;
    const file = `iterations/${cycle}/metadata.yaml`;
    const key = JSON.stringify({ ...facts, version: 0 });
    await guarded(drawer, file, () => drawVersioned(drawer, file, key, () => writeCycleMetadata(facts)));
  }
  if (state.session === null) return;
  await drawClosed(cycles, (cycle, closed) => {
    const file = `iterations/${cycle}/progress.md`;
    const mirror = mirrorAt(drawer, join(drawer.sessionDir, file));
    return guarded(drawer, file, () => mirror.draw(closed(mirror.text())));
  });
  const drawn = await guarded(drawer, PROGRESS, () => drawer.progress.draw(cycles, state, touched));
  if (!drawn) drawer.progress.forget();
}

async function drawProject(
  drawer: Drawer,
  state: State,
  news: (...types: Fact['type'][]) => boolean,
): Promise<void> {
  if (state.session === null) return;
  const place = (file: string) => mirrorAt(drawer, join(drawer.mainDir, '.ralph', file));
  await guarded(drawer, '.ralph/journal.jsonl', async () => {
    const failed = drawer.restUntil.has('.ralph/journal.jsonl');
    if (failed || news('verdict.reached', 'intervention.chosen')) await drawer.notes.note(drawer.telling);
  });
  if (!drawer.primary) return;
  const draw = (
    file: string,
    due: boolean,
    text: () => string | null | Promise<string | null>,
    shape?: MirrorShape,
  ) =>
    guarded(drawer, `.ralph/${file}`, async () => {
      const mirror = place(file);
      if (shape !== undefined && ['unknown', 'changed'].includes(mirror.standing())) {
        const damage = setDamagedAside(join(drawer.mainDir, '.ralph', file), shape);
        if (damage !== null) warnOnce(drawer, damage, damage);
      }
      const failed = drawer.restUntil.has(`.ralph/${file}`);
      if (!due && !failed && mirror.standing() !== 'unknown') return mirror.keep();
      const drawn = await text();
      if (drawn === null || (drawn === '' && mirror.text() === null)) return;
      await ensureProjectFolder(drawer.mainDir);
      mirror.draw(drawn);
    });
  const { feedbackRotationDays: days = ROTATION_DAYS } = state.policy?.interventions ?? {};
  const age = { now: state.lastAt, days };
  await draw('interventions/events.json', true, () => drawer.notes.events(age), EVENTS_SHAPE);
  await draw('interventions/profile.json', true, () => drawer.notes.profiles(), PROFILES_SHAPE);
  const corrected = news('intervention.chosen', 'task.moved', 'tasks.read', 'cycle.started', 'abort.done');
  await draw('interventions/feedback.txt', corrected, () => feedbackText(state));
  await draw('metrics.json', news('run.stopped', 'wave.ended'), () => metricsText(state, drawer.telling));
  const { loops } = drawer;
  if (!loops) return;
  // The runs of other loops draw the same file: what they wrote is no damage, and nothing to put back.
  const due = news(...ABOUT_LOOPS) || place('loops.json').standing() === 'changed';
  await draw('loops.json', due, async () => loopsText(await loops(state)));
}

/** Where a loop begins, rests, needs somebody, and ends. */
const ABOUT_LOOPS: Fact['type'][] = [
  'run.started',
  'run.stopped',
  'wave.ended',
  'question.asked',
  'question.answered',
  'question.expired',
  'question.closed',
  'session.paused',
  'session.resumed',
];

/**
 * Draws what the project journal tells of agents' behaviour, at once and without a session, as after a reset.
 * Answers what a person should hear of it: damage that was set aside.
 */
export function drawBehaviour(mainDir: string): string[] {
  const notes = projectNotes(mainDir, () => '');
  const told: string[] = [];
  const draw = (name: string, shape: MirrorShape, text: string | null) => {
    const file = join(mainDir, '.ralph', 'interventions', name);
    if (text === null) return;
    const damage = setDamagedAside(file, shape);
    if (damage !== null) told.push(damage);
    wholeMirror(file).draw(text);
  };
  draw('events.json', EVENTS_SHAPE, notes.events({ now: Date.now(), days: ROTATION_DAYS }));
  draw('profile.json', PROFILES_SHAPE, notes.profiles());
  return told;
}
