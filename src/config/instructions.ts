/**
 * The session's own layer: the front matter of `<SESSION_ID>.instructions.md` may set the session's
 * guardrails, and nothing else. An agent that plans may write this file, so it must never reach gates,
 * commands or who is hired. What is wrong here is a warning: the value below it stays in force.
 */
import { nearest } from '../core/index.ts';
import { expectation, shown } from './explain.ts';
import { isMapping, nodeAt, type Path, pathText, valueAt } from './path.ts';
import { plainConfig } from './plain.ts';
import { emptySource, parseSource, type Source } from './source.ts';

/** Under which names a guardrail may stand, and which key it sets. */
const GUARDRAILS: { key: Path; spellings: Path[] }[] = [
  ...['max_parallel_executors', 'max_parallel_reviewers', 'max_parallel_questioners'].map((name) => ({
    key: ['parallel', name],
    spellings: [[name], ['parallel', name]],
  })),
  { key: ['limits', 'max_cycles'], spellings: [['max_cycles'], ['planning', 'max_cycles']] },
  {
    key: ['limits', 'max_subagent_retries'],
    spellings: [['max_subagent_retries'], ['retries', 'max_subagent_retries']],
  },
  {
    key: ['limits', 'task_wip_minutes'],
    spellings: [['task_wip_minutes'], ['timeouts', 'task_wip_minutes']],
  },
  { key: ['limits', 'max_carry_iterations'], spellings: [['max_carry_iterations']] },
].map(({ key, spellings }) => ({ key, spellings: [...spellings, key] }));
/** Front matter of instructions files that says nothing about limits. */
const OTHER_FIELDS = ['applyTo', 'name', 'description', 'title'];
const NAMES = GUARDRAILS.map(({ key }) => String(key.at(-1)));

/** Reads the text of an instructions file. Never refuses: everything odd is a warning. */
export function parseInstructions(text: string, file: string): Source {
  const front = frontMatter(text);
  if (front === null) return emptySource(file);
  // One line for the opening `---`, so that lines are those of the file.
  const written = parseSource(`\n${front}`, file);
  const source = emptySource(file);
  if (written.problems.length > 0) {
    source.warnings.push(
      ...written.problems.map(({ at, what }) => `${at}: ${what}; the session's guardrails are not read.`),
    );
    return source;
  }
  const from = new Map<string, Path>();
  const warn = (path: Path, words: string): void => {
    source.warnings.push(`${file}:${written.lineOf(path)}: ${pathText(path)} ${words}`);
  };
  for (const path of leaves(written.data, [])) {
    if (OTHER_FIELDS.includes(String(path[0]))) continue;
    const rail = GUARDRAILS.find(({ spellings }) =>
      spellings.some((one) => pathText(one) === pathText(path)),
    );
    if (rail === undefined) warn(path, unknownWords(path));
    else {
      const value = valueAt(written.data, path);
      if (!holds(rail.key, value)) warn(path, wrongWords(rail.key, value));
      else {
        put(source.data, rail.key, value);
        from.set(pathText(rail.key), path);
      }
    }
  }
  source.lineOf = (path) => written.lineOf(from.get(pathText(path)) ?? path);
  return source;
}

function frontMatter(text: string): string | null {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const isFence = (line: string): boolean => /^---[ \t]*$/.test(line);
  const end = lines.findIndex((line, i) => i > 0 && isFence(line));
  return isFence(lines[0]!) && end > 0 ? lines.slice(1, end).join('\n') : null;
}

function leaves(value: unknown, path: Path): Path[] {
  if (!isMapping(value)) return [path];
  return Object.entries(value).flatMap(([key, child]) => leaves(child, [...path, key]));
}

function put(data: Record<string, unknown>, [section, name]: Path, value: unknown): void {
  const held = data[String(section)];
  data[String(section)] = { ...(isMapping(held) ? held : {}), [String(name)]: value };
}

function holds([section, name]: Path, value: unknown): boolean {
  return plainConfig({ [String(section)]: { [String(name)]: value } }) !== null;
}

function unknownWords(path: Path): string {
  const near = nearest(String(path.at(-1)), NAMES);
  return near === null || nodeAt(path) !== null
    ? `is no guardrail of a session and is not read; those are ${NAMES.join(', ')}. Everything else stands in the project's file.`
    : `is no guardrail and is not read. Did you mean ${near}?`;
}

function wrongWords(key: Path, value: unknown): string {
  return `is ${shown(value, key)}; it must be ${expectation(nodeAt(key) ?? {})}. It is not read, and what was in force stays.`;
}
