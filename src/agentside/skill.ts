/**
 * `ralph tools skill list | load NAME`: skills that the prompt shows as one line each. The loop wrote down which
 * there are and where, so a name leads to one of those files and nowhere else.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { type Attempt, attemptFile } from './attempt.ts';
import type { Complaint, Told } from './say.ts';

interface Skill {
  name: string;
  about: string;
  /** Absolute. */
  file: string;
}

/** Largest skill that is shown, in bytes. */
const MAX_BYTES = 256 * 1024;

export function listSkills(attempt: Attempt): Told {
  const skills = skillsOf(attempt);
  const lines = skills.map(({ name, about }) => `- ${name}: ${about}`);
  return {
    text: lines.length === 0 ? 'There is no skill to load.' : lines.join('\n'),
    data: skills.map(({ name, about }) => ({ name, about })),
  };
}

/** The whole text of one skill. */
export function loadSkill(attempt: Attempt, name: string): Told | Complaint {
  const skills = skillsOf(attempt);
  const skill = skills.find((one) => one.name === name);
  if (skill === undefined) {
    const names = skills.map((one) => one.name).join(', ');
    return {
      what: name === '' ? 'No skill was named.' : `There is no skill "${name.slice(0, 80)}".`,
      why: names === '' ? 'This project has none.' : `There is: ${names}.`,
      fix: 'ralph tools skill list',
    };
  }
  try {
    return { text: read(skill.file), data: { name, text: read(skill.file) } };
  } catch (error) {
    return {
      what: `The skill ${name} cannot be read.`,
      why: error instanceof Error ? error.message : String(error),
      fix: 'Go on without it.',
    };
  }
}

function read(file: string): string {
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) throw new Error(`${file} is no file`);
    const bytes = Buffer.alloc(Math.min(status.size, MAX_BYTES));
    const count = readSync(descriptor, bytes, 0, bytes.length, 0);
    const text = new TextDecoder().decode(bytes.subarray(0, count)).trimEnd();
    return status.size > MAX_BYTES
      ? `${text}\n… shortened: ${MAX_BYTES} of ${status.size} bytes shown`
      : text;
  } finally {
    closeSync(descriptor);
  }
}

function skillsOf(attempt: Attempt): Skill[] {
  try {
    const list = JSON.parse(readFileSync(attemptFile(attempt, 'skills.json'), 'utf8')) as unknown;
    return Array.isArray(list) ? (list as Skill[]) : [];
  } catch {
    return [];
  }
}
