/**
 * Skills of the user's: a folder for each, with a SKILL.md whose front matter names and describes it. Prompts show
 * one line of each; the whole text is loaded by the agent that wants it.
 */
import { readdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import type { SkillFile } from '../engine/index.ts';
import { readBounded } from './swap.ts';

export interface SkillFolders {
  /** As `skills.dirs` has them: relative ones lie in the project, `~` is the home folder. */
  dirs: readonly string[];
  projectDir: string;
  home: string;
  /** Told once for all folders that are not there. The two usual ones may be missing. */
  warn(text: string): void;
}

const USUAL: readonly string[] = ['skills', '~/.copilot/skills'];
const HEAD_BYTES = 16 * 1024;
const MAX_FOLDERS = 300;
const MAX_ABOUT_CHARS = 300;
/** A name is one word: it stands in a command line, and leads to no path. */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Looks again at each call; the first folder that has a name keeps it. Never throws. */
export function skillFolders({ dirs, projectDir, home, warn }: SkillFolders): () => Promise<SkillFile[]> {
  let told = false;
  return async () => {
    const skills = new Map<string, SkillFile>();
    const missing: string[] = [];
    for (const dir of dirs) {
      const names = await readdir(placeOf(dir, projectDir, home)).catch(() => null);
      if (names === null && !USUAL.includes(dir)) missing.push(dir);
      for (const name of (names ?? []).sort().slice(0, MAX_FOLDERS)) {
        const skill = await skillIn(join(placeOf(dir, projectDir, home), name), name);
        if (skill !== null && !skills.has(skill.name)) skills.set(skill.name, skill);
      }
    }
    if (missing.length > 0 && !told) {
      told = true;
      warn(`skills.dirs: ${missing.join(', ')} cannot be read; the run goes on without.`);
    }
    return [...skills.values()];
  };
}

function placeOf(dir: string, projectDir: string, home: string): string {
  if (dir === '~' || dir.startsWith('~/')) return join(home, dir.slice(1));
  return isAbsolute(dir) ? dir : join(projectDir, dir);
}

async function skillIn(folder: string, name: string): Promise<SkillFile | null> {
  try {
    const file = await realpath(join(folder, 'SKILL.md'));
    if (!(await stat(file)).isFile()) return null;
    const bytes = await readBounded(file, HEAD_BYTES, 'start');
    if (bytes === null || bytes.includes(0)) return null;
    const told = frontMatter(new TextDecoder().decode(bytes));
    const called = NAME.test(told.name) ? told.name : name;
    return NAME.test(called) ? { name: called, about: told.about, file } : null;
  } catch {
    return null;
  }
}

/** What a text says of itself ahead of its first heading; without that, its first line. */
function frontMatter(text: string): { name: string; about: string } {
  const found = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---\s*(?:\r?\n|$)/.exec(text);
  const body = found === null ? text : text.slice(found[0].length);
  const first = body.split('\n').find((line) => line.trim() !== '') ?? '';
  const told = found === null ? {} : fieldsOf(found[1]!);
  const line = (value: unknown) =>
    (typeof value === 'string' ? value : '').replace(/\s+/g, ' ').trim().slice(0, MAX_ABOUT_CHARS);
  return { name: line(told.name), about: line(told.description) || line(first.replace(/^#+\s*/, '')) };
}

function fieldsOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // Descriptions with a colon in them are written by hand without quotes.
    const lines = text.split('\n').map((line) => /^(name|description):\s*(.*)$/.exec(line.trim()));
    return Object.fromEntries(lines.flatMap((match) => (match ? [[match[1]!, match[2]!]] : [])));
  }
}
