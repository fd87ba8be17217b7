/**
 * What people and earlier runs wrote down beside the tasks, for the prompts: patterns at the head of
 * progress.txt, long-lived memories, the product's requirements, recent commits. All of it is bounded;
 * a file that is missing, a link or not text counts as empty.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { memoriesFor, type PromptKnowledge, readMemories } from '../core/index.ts';
import { learningsOf, patternsOf, planNotes } from '../dialects/index.ts';
import type { Ground, KnowledgeSource, SkillFile } from '../engine/index.ts';
import { diskError } from './disk.ts';
import { readBounded, sight } from './swap.ts';

const PATTERN_BYTES = 8 * 1024;
/** How far the notes of a plan are looked for. */
const PLAN_BYTES = 256 * 1024;
/** As far back as memories are read; what stands in a prompt has a budget of its own. */
const MEMORY_BYTES = 1024 * 1024;
const PRD_BYTES = 16 * 1024;
const COMMITS = 10;

interface Source {
  /** Relative to the project folder; the first that is there is read. */
  paths: readonly string[];
  limit: number;
  from: 'start' | 'end';
  shape(text: string): string;
}

const whole = (text: string): string => text.trim();

/** Notes that other loops keep; each is named above its text. */
const NOTES: readonly Source[] = [
  {
    paths: ['ralph/learnings.md', 'learnings.md', 'LEARNINGS.md', '.ralph/learnings.md'],
    limit: PATTERN_BYTES,
    from: 'end',
    shape: learningsOf,
  },
  {
    paths: ['AGENT.md', '@AGENT.md', '.ralph/AGENT.md', '.ralph/@AGENT.md'],
    limit: PATTERN_BYTES,
    from: 'start',
    shape: learningsOf,
  },
  {
    paths: [
      'fix_plan.md',
      '@fix_plan.md',
      '.ralph/fix_plan.md',
      '.ralph/@fix_plan.md',
      'IMPLEMENTATION_PLAN.md',
    ],
    limit: PLAN_BYTES,
    from: 'start',
    shape: planNotes,
  },
];

const SOURCES: Record<'patterns' | 'prd', Source> = {
  patterns: {
    paths: ['ralph/progress.txt', 'progress.txt', '.ralph/progress.txt', 'scripts/ralph/progress.txt'],
    limit: PATTERN_BYTES,
    from: 'start',
    shape: patternsOf,
  },
  prd: { paths: ['ralph/prd.md', 'prd.md'], limit: PRD_BYTES, from: 'start', shape: whole },
};

/** Memories are appended to, so the newest are at the end. */
const MEMORIES: Source = { paths: ['.ralph/memories.md'], limit: MEMORY_BYTES, from: 'end', shape: whole };

export interface KnowledgeOptions {
  /** The project's folder in the main checkout, which holds the memories; default: the project's own. */
  mainDir?: string;
  /** Default: enabled, with 2,000 tokens. */
  memories?: { enabled: boolean; budgetTokens: number };
  /** Skills of the user's that prompts name; default: none. */
  skills?: () => Promise<SkillFile[]>;
}

/** Reads the notes of a project; a file is read again only when it changed. */
export function knowledgeSource(
  projectDir: string,
  ground: Pick<Ground, 'recentCommits'>,
  {
    mainDir = projectDir,
    memories = { enabled: true, budgetTokens: 2000 },
    skills = () => Promise.resolve([]),
  }: KnowledgeOptions = {},
): KnowledgeSource {
  const cache = new Map<string, { identity: string; text: string }>();

  async function textAt(path: string, source: Source, folder = projectDir): Promise<string | null> {
    const file = join(folder, path);
    const seen = await sight(file).catch(() => null);
    if (seen?.kind !== 'file') return null;
    const known = cache.get(file);
    if (known?.identity === seen.identity) return known.text;
    const bytes = await readBounded(file, source.limit, source.from);
    if (bytes === null) return null;
    const text = source.shape(wholeLines(bytes, seen.size > source.limit, source.from));
    cache.set(file, { identity: seen.identity, text });
    return text;
  }

  async function first(source: Source): Promise<{ path: string; text: string } | null> {
    for (const path of source.paths) {
      const text = await textAt(path, source);
      if (text !== null) return { path, text };
    }
    return null;
  }

  async function notes(): Promise<string[]> {
    const found = await Promise.all(NOTES.map(first));
    return found.flatMap((note) =>
      note === null || note.text === '' ? [] : [`From ${note.path}:\n\n${note.text}`],
    );
  }

  async function remembered(about: string): Promise<string> {
    if (!memories.enabled) return '';
    const text = await textAt(MEMORIES.paths[0]!, MEMORIES, mainDir);
    return text === null ? '' : memoriesFor(readMemories(text), about, memories.budgetTokens);
  }

  return {
    remembers: memories.enabled,
    skills,
    async read(about = '') {
      const knowledge: PromptKnowledge = {};
      const kept = await remembered(about);
      if (kept !== '') knowledge.memories = kept;
      for (const [name, source] of Object.entries(SOURCES) as [keyof typeof SOURCES, Source][]) {
        const text = (await first(source))?.text ?? '';
        if (text !== '') knowledge[name] = text;
      }
      const all = [...(knowledge.patterns === undefined ? [] : [knowledge.patterns]), ...(await notes())];
      if (all.length > 0) knowledge.patterns = all.join('\n\n');
      const commits = await ground.recentCommits(COMMITS);
      if (commits.length > 0) knowledge.commits = commits;
      return knowledge;
    },
  };
}

/** The text without a line that the bound cut through; empty for bytes that are no text. */
function wholeLines(bytes: Buffer, cut: boolean, from: 'start' | 'end'): string {
  if (bytes.includes(0)) return '';
  const text = new TextDecoder().decode(bytes).replace(/\r\n?/g, '\n');
  if (!cut) return text;
  if (from === 'start') {
    const end = text.lastIndexOf('\n');
    return end === -1 ? text.replace(/\ufffd$/, '') : text.slice(0, end);
  }
  const start = text.indexOf('\n');
  return start === -1 ? text.replace(/^\ufffd+/, '') : text.slice(start + 1);
}

/**
 * Appends an entry to `ralph/progress.txt`, as a paragraph of its own. False: the project keeps no such
 * file, and none is made. Throws `StoreFull` when the disk takes no more.
 */
export async function appendProgressEntry(projectDir: string, text: string): Promise<boolean> {
  const file = join(projectDir, 'ralph', 'progress.txt');
  if ((await sight(file)).kind !== 'file') return false;
  const end = await readBounded(file, 2, 'end');
  const newline = end?.toString() === '\r\n' ? '\r\n' : '\n';
  const open_ = end !== null && end.length > 0 && end.at(-1) !== 0x0a;
  const body = text.replace(/\r\n?/g, '\n').trim().replaceAll('\n', newline);
  const entry = `${open_ ? newline : ''}${end?.length ? newline : ''}${body}${newline}`;
  try {
    const handle = await open(file, constants.O_WRONLY | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0));
    try {
      await handle.writeFile(entry);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw diskError(error, file);
  }
  return true;
}
