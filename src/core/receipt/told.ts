/** What result objects and prose claim, as one list of files and commands with where each stands. */
import type { Claim, ClaimedCommand, ClaimedCommit, ClaimedFile, ResultObject, Told } from '../claim.ts';
import { readEvidenceText } from './evidence-text.ts';
import { type ShapedPath, shapeOf } from './path-shape.ts';
import { spares, tokensOf } from './tokens.ts';

const MAX_FILES = 100;
const MAX_COMMANDS = 40;
const MAX_COMMITS = 20;

export interface Sayings {
  /** Result objects by the way they came, the more trusted first. */
  results: readonly { result: ResultObject; via: 'outbox' | 'result' }[];
  finalMessage: string;
  prompt: string;
}

/** Everything that was claimed; null when nothing was. Bounded; each path is told once for each way. */
export function toldBy({ results, finalMessage, prompt }: Sayings): Told | null {
  const files = new Map<string, ClaimedFile>();
  const commands = new Map<string, ClaimedCommand>();
  const commits = new Map<string, ClaimedCommit>();
  const file = (claimed: ClaimedFile) => {
    const key = `${claimed.via}\0${claimed.deed}\0${claimed.path}`;
    if (!files.has(key)) files.set(key, claimed);
  };
  const command = (claimed: ClaimedCommand) => {
    if (!commands.has(claimed.command)) commands.set(claimed.command, claimed);
  };
  for (const { result, via } of results) {
    for (const text of result.filesModified)
      for (const path of pathsIn(text)) file({ ...path, deed: 'changed', via });
    for (const { kind, value, exitCode } of result.evidence) {
      if (kind === 'file') for (const path of pathsIn(value)) file({ ...path, deed: 'changed', via });
      if (kind === 'command') command({ command: plainCommand(value), exitCode: exitCode ?? null, via });
    }
    add(readEvidenceText(result.summary, prompt), via);
  }
  add(readEvidenceText(finalMessage, prompt), 'prose');
  if (files.size + commands.size + commits.size === 0) return null;
  return {
    files: withoutPassing([...files.values()]).slice(0, MAX_FILES),
    commands: [...commands.values()].slice(0, MAX_COMMANDS),
    ...(commits.size === 0 ? {} : { commits: [...commits.values()].slice(0, MAX_COMMITS) }),
  };

  function add(text: ReturnType<typeof readEvidenceText>, via: ClaimedFile['via']): void {
    for (const told of text.files) file({ ...told, via });
    for (const told of text.commands) command({ ...told, via });
    for (const told of text.commits) {
      const known = commits.get(told.commit);
      if (known === undefined) commits.set(told.commit, told);
      else known.unsure &&= told.unsure;
    }
  }
}

/** Of a file that is said to be created and to be removed again, only the last can be wrong. */
function withoutPassing(files: ClaimedFile[]): ClaimedFile[] {
  const gone = new Set(files.filter(({ deed }) => deed === 'removed').map(({ path }) => path));
  return files.map((file) =>
    gone.has(file.path) && file.deed !== 'removed' ? { ...file, unsure: true } : file,
  );
}

/** The paths in a field that holds one: `src/x.ts:10-40`, `src/x.ts (new)`, `a.ts -> b.ts`, a bare name. */
export function pathsIn(field: string): ShapedPath[] {
  const text = field.trim();
  if (/^(?:none|no files?|no changes?|n\/a|null|nothing|-+|—)?\.?$/i.test(text)) return [];
  if (/\s/.test(text) && spares(text.slice(text.search(/\s/)))) return [];
  const whole = shapeOf(text.replace(/^[`'"]|[`'"]$/g, ''), true);
  if (whole !== null && !/\s/.test(whole.path)) return [{ ...whole, unsure: false }];
  const found = tokensOf(text).flatMap((token) =>
    token.kind === 'path' && !token.shape.unsure ? [token.shape] : [],
  );
  const arrow = /\s(?:->|→|=>)\s/.test(text);
  if (found.length > 0) return found.slice(0, arrow ? 2 : 1);
  return [{ path: text.slice(0, 512), lines: null, unsure: /\s/.test(text) }];
}

export function plainCommand(text: string): string {
  return text
    .trim()
    .replace(/^`+|`+$/g, '')
    .replace(/^\$ /, '')
    .slice(0, 300);
}

/** Paths that stand behind criteria, in entries of evidence and in the notes of results. */
export function claimedPaths({ result }: Claim): string[] {
  if (result === null) return [];
  return [
    ...result.evidence.flatMap(({ kind, value }) => (kind === 'file' ? pathsIn(value) : pathsNamed(value))),
    ...result.criteriaResults.flatMap(({ note }) => pathsNamed(note)),
  ].map(({ path }) => path);
}

/** Paths that a note names, whatever it says of them. */
export function pathsNamed(note: string): ShapedPath[] {
  const cut = note.slice(0, 2_000);
  return tokensOf(cut).flatMap((token) =>
    token.kind === 'path' && !token.shape.unsure ? [token.shape] : [],
  );
}

/** What a note has in backticks that is no path, e.g. a command. */
export function codeNamed(note: string): string[] {
  const cut = note.slice(0, 2_000);
  return tokensOf(cut).flatMap((token) =>
    token.kind === 'code' && token.text !== '' ? [plainCommand(token.text)] : [],
  );
}
