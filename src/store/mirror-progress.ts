/**
 * `progress.md` of the running cycle: drawn from the journal, and read for what people did to it. A person's
 * edit can only be told from our own lines by what we drew last, so that is kept beside the session's mirrors.
 */
import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type MarkerEdit, type State, wasBusy } from '../core/index.ts';
import { type ProgressMarker, progressWords, readProgressMarkers } from '../dialects/index.ts';
import type { ProgressEdit } from '../engine/index.ts';
import { clearWay, diskError } from './disk.ts';
import { type CycleTimes, type DrawnProgress, drawProgress, patchProgress } from './mirror-cycles.ts';
import { type WholeMirror, wholeMirror } from './mirror-file.ts';

export interface ProgressMirror {
  /** What somebody did to the file since it was drawn and nobody has taken in yet. */
  edited(state: State): ProgressEdit | null;
  settle(edit: ProgressEdit, keepsWords: boolean): void;
  /** `touched`: tasks whose line may be different; null: any. */
  draw(times: CycleTimes, state: State, touched: ReadonlySet<string> | null): void;
  /** The next drawing is of the whole file. */
  forget(): void;
}

interface Held {
  sessionDir: string;
  mirrorAt(file: string): WholeMirror;
  /** What this process drew last, with the lines it knows by heart. */
  drawn: { path: string; progress: DrawnProgress } | null;
  /** The text drawn last, as it is kept on disk. */
  kept: { path: string; text: string } | null;
  /** The file as it was looked at last. */
  seen: { identity: string; edit: ProgressEdit | null } | null;
  /** Text that the next drawing goes into, in place of the file's. */
  instead: { path: string; text: string } | null;
}

export function progressMirror(sessionDir: string, mirrorAt: (file: string) => WholeMirror): ProgressMirror {
  const held: Held = { sessionDir, mirrorAt, drawn: null, kept: null, seen: null, instead: null };
  return {
    edited: (state) => edited(held, state),
    settle(edit, keepsWords) {
      if (held.seen?.edit === edit) held.seen.edit = null;
      const text = keepsWords ? null : drawnBefore(held, edit.path, edit.text);
      held.instead = text === null ? null : { path: edit.path, text };
    },
    draw: (times, state, touched) => draw(held, { times, state, touched }),
    forget: () => {
      held.drawn = null;
    },
  };
}

/** Whether somebody changed a marker since the file was drawn, for a session that nobody has open. */
export function hasMarkedProgress(sessionDir: string, state: State): boolean {
  const found = progressMirror(sessionDir, (file) => wholeMirror(file)).edited(state);
  return found !== null && found.edits.length > 0;
}

function pathOf({ cycle }: State): string {
  return `iterations/${cycle}/progress.md`;
}

function edited(held: Held, state: State): ProgressEdit | null {
  const path = pathOf(state);
  const file = join(held.sessionDir, path);
  const standing = held.mirrorAt(file).standing();
  if (state.session === null || standing === 'ours' || standing === 'missing') return null;
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) return null;
  const identity = `${stat.ino}:${stat.size}:${stat.ctimeMs}`;
  if (held.seen?.identity === identity) return held.seen.edit;
  const text = held.mirrorAt(file).text();
  const before = text === null ? null : drawnBefore(held, path, text);
  const found = text === null || before === null ? null : editOf(before, text, { path, at: stat.ctimeMs });
  // Without a marker they are words of a person, which stay, unless an agent may have written them.
  const counts = found !== null && (found.edits.length > 0 || wasBusy(state, found.at));
  held.seen = { identity, edit: counts ? found : null };
  return held.seen.edit;
}

function editOf(before: string, text: string, about: { path: string; at: number }): ProgressEdit | null {
  if (before === text) return null;
  const edits = editsOf(before, text);
  const words = progressWords(before).join('\n') !== progressWords(text).join('\n');
  return { ...about, text, edits, words };
}

function editsOf(before: string, text: string): MarkerEdit[] {
  const [was, is] = [markersOf(before), markersOf(text)];
  const edits: MarkerEdit[] = [];
  for (const [id, { status, sign, section, at: since }] of is)
    if (was.get(id)?.status !== status)
      edits.push({ id, to: status, sign, isStep: section !== 'implementation', since });
  for (const [id, { section }] of was)
    if (!is.has(id)) edits.push({ id, to: null, sign: null, isStep: section !== 'implementation' });
  return edits;
}

function markersOf(text: string): Map<string, ProgressMarker> {
  return new Map(readProgressMarkers(text).markers.map((marker) => [marker.id, marker]));
}

/** What we drew last into this file; of two drawings that a crash came between, the nearer one. */
function drawnBefore({ sessionDir, kept }: Held, path: string, text: string): string | null {
  if (kept?.path === path) return kept.text;
  const [last, next] = [memoryOf(sessionDir, path), `${memoryOf(sessionDir, path)}.next`].map(textAt);
  if (last === null || next === null) return last ?? next ?? null;
  const [far, near] = [editsOf(last!, text).length, editsOf(next!, text).length];
  return near < far || next === text ? next! : last!;
}

function memoryOf(sessionDir: string, path: string): string {
  return join(sessionDir, 'mirrors', path.replaceAll('/', '-'));
}

function textAt(file: string): string | null {
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(file, 'utf8') : null;
  } catch {
    return null;
  }
}

interface Drawing {
  times: CycleTimes;
  state: State;
  touched: ReadonlySet<string> | null;
}

function draw(held: Held, { times, state, touched }: Drawing): void {
  // Somebody's word that was not taken in yet is not drawn over.
  if (edited(held, state) !== null) return;
  const path = pathOf(state);
  const mirror = held.mirrorAt(join(held.sessionDir, path));
  const instead = held.instead?.path === path ? held.instead.text : null;
  const previous = instead ?? mirror.text();
  const known = held.drawn?.path === path ? held.drawn.progress : null;
  if (
    instead === null &&
    mirror.standing() === 'ours' &&
    previous !== null &&
    touched !== null &&
    known !== null
  ) {
    if (touched.size === 0) return;
    const patched = patchProgress({ times, state, drawn: known }, previous, touched);
    if (patched !== null) return put(held, mirror, { path, text: patched });
  }
  const { text, drawn } = drawProgress(times, state, previous);
  held.drawn = null;
  put(held, mirror, { path, text });
  held.drawn = { path, progress: drawn };
  held.instead = null;
}

/** Both drawings are kept until the file is there: a crash in between leaves either. */
function put(held: Held, mirror: WholeMirror, { path, text }: { path: string; text: string }): void {
  if (held.kept?.path === path && held.kept.text === text && mirror.standing() === 'ours') return;
  const memory = memoryOf(held.sessionDir, path);
  try {
    clearWay(held.sessionDir, memory);
    mkdirSync(dirname(memory), { recursive: true });
    clearWay(held.sessionDir, `${memory}.next`);
    writeFileSync(`${memory}.next`, text);
  } catch (error) {
    throw diskError(error, memory);
  }
  mirror.draw(text);
  renameSync(`${memory}.next`, memory);
  held.kept = { path, text };
}
