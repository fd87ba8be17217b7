/** What the shape of a task says beside its words: where they stand, lists, values that change, figures. */
import type { TaskDef } from './task.ts';

/** The order of classes, as places in the sums. */
export const [SIMPLE, MEDIUM, COMPLEX, UI] = [0, 1, 2, 3] as const;

/** What one word, or a sign like a list, says. */
export interface Evidence {
  /** The class, as its place in the order of classes. */
  rank: number;
  weight: number;
  /** As it stands in the text. */
  word: string;
  place: string;
}

/** A part of a task's text, and how much its words count. */
export interface Part {
  place: string;
  text: string;
  factor: number;
}

/** What the classification reads. */
export type Texts = Pick<TaskDef, 'title' | 'description' | 'acceptance'>;

/** How the place of a task's title is called. */
export const TITLE = 'the title';

const DESCRIPTION_FACTOR = 0.5;
const ACCEPTANCE_FACTOR = 0.4;
const SCOPE_FACTOR = 0.5;
const ROLE_FACTOR = 0.2;
const GOAL_FACTOR = 0.4;

/** "feat(ui)!: …": the kind of commit and its scope. */
const COMMIT = /^(feat|fix|chore|docs|style|refactor|perf|test|build|ci|revert)(?:\(([^)]*)\))?!?:\s*/i;

/** What the kind of a commit says; a feature may be anything. */
const KINDS: Record<string, (readonly [rank: number, weight: number])[]> = {
  fix: [[SIMPLE, 1]],
  chore: [[SIMPLE, 2.5]],
  docs: [[SIMPLE, 3]],
  style: [[SIMPLE, 1]],
  build: [[SIMPLE, 1]],
  revert: [[SIMPLE, 1]],
  ci: [
    [MEDIUM, 1],
    [SIMPLE, 0.5],
  ],
  refactor: [
    [SIMPLE, 0.5],
    [MEDIUM, 0.5],
  ],
  perf: [
    [MEDIUM, 1],
    [COMPLEX, 1],
  ],
  test: [[MEDIUM, 3]],
};

/** "As a nurse I want to …": who wants it says little about the work. */
const STORY =
  /^(?:as an?|als|en tant que?|como|come)\s.{2,70}?,?\s(?:i want|i need|i would like|i can|i expect|möchte ich|will ich|je veux|je souhaite|je voudrais|quiero|necesito|voglio)\b/i;

/** "… so that I need no programmer": why it is wanted says less than what. */
const GOAL = /\s(?:so that|so i|so it|in order to|because|damit|afin de|afin que|pour que|para que)\s/i;

/** The task's texts, cut where their words count differently. */
export function partsOf({ title, description, acceptance }: Texts): Part[] {
  const parts: Part[] = [];
  let rest = title;
  const commit = COMMIT.exec(rest);
  if (commit) {
    if (commit[2]) parts.push({ place: TITLE, text: commit[2], factor: SCOPE_FACTOR });
    rest = rest.slice(commit[0].length);
  }
  const story = STORY.exec(rest);
  if (story) {
    parts.push({ place: TITLE, text: story[0], factor: ROLE_FACTOR });
    rest = rest.slice(story[0].length);
  }
  const goal = GOAL.exec(rest);
  const cut = goal ? goal.index : rest.length;
  parts.push({ place: TITLE, text: rest.slice(0, cut), factor: 1 });
  if (goal) parts.push({ place: TITLE, text: rest.slice(cut), factor: GOAL_FACTOR });
  if (description) parts.push({ place: 'the description', text: description, factor: DESCRIPTION_FACTOR });
  acceptance.forEach((text, at) => {
    parts.push({ place: `acceptance ${at + 1}`, text, factor: ACCEPTANCE_FACTOR });
  });
  return parts;
}

/** Signs in a title that are no words of a class, and what they say. */
const SIGNS: (readonly [sign: RegExp, ...says: (readonly [rank: number, weight: number])[]])[] = [
  // One value becomes another: "to 1.23", "from 5 to 20", "auf 7 %".
  [/\b(?:from|von|de|to|auf|à|a)\s+["'`]?[$€£]?\d[\d.,]*(?:\s?(?:%|[a-z]{1,7}\b))?/i, [SIMPLE, 1.5]],
  [/\b(?:from|von|de) \d.{0,20} (?:to|auf|à|a) \d+/i, [SIMPLE, 3]],
  // A thing and its value, and nothing else: "Timeout 30 s", "Go 1.23". "Part 3" is none.
  [/^\p{L}[\p{L}.-]*(?: \p{L}+)? v?(?:\d[\d.]* ?(?:%|[a-z]{1,3})|\d+\.\d[\d.]*)$/iu, [SIMPLE, 2.5]],
  // One function or one constant by its name: "parsePort", "MAX_RETRIES".
  [/(?<![.\w])[a-z]+[A-Z]\w*/, [SIMPLE, 1]],
  [/\b[A-Z]{2,}_[A-Z_]+\b/, [SIMPLE, 1.5]],
  // "2 s, not 5".
  [/\d[\d.,]*\s?\S{0,8},? (?:not|nicht|no|pas|statt) \S{0,8}\d/i, [SIMPLE, 3]],
  // A word as it is written somewhere; the apostrophes of two words are no quotes.
  [/(?<![\p{L}\p{N}])["“„«‘'`](?=\S)[^"”“»’'`]{1,40}["”“»’'`](?![\p{L}\p{N}])/u, [SIMPLE, 2]],
  // Figures of speed and size: "under 50 ms", "20 million documents", "100 000 connections".
  [/\b\d[\d.,]*\s?(?:ms|million|billion|tb|fps|k)\b(?: \w+)?|\b\d{1,3}[ ,.]?000 \w+/i, [COMPLEX, 1.5]],
  // A whole thing is put in the place of another.
  [/^(?:move|migrate|convert|port|switch|transition|upgrade)\b.*\b(?:from|to) [^\d]/i, [COMPLEX, 1.5]],
  // A list of parts.
  [/[^,:;]+(?:,[^,:;]+){2,}/, [COMPLEX, 1], [UI, 0.9]],
];

/** Longer titles are looked at for signs no further than this, and no longer sign is told whole. */
const LOOKED_AT = 400;
const TOLD = 40;

/** What signs and the kind of commit say. */
export function hintsOf({ title }: Texts): Evidence[] {
  const kind = COMMIT.exec(title)?.[1];
  const kinds = (kind && KINDS[kind.toLowerCase()]) || [];
  const hints = kinds.map(([rank, weight]) => ({ rank, weight, word: kind!, place: TITLE }));
  const start = title.slice(0, LOOKED_AT).replace(STORY, '');
  for (const [sign, ...says] of SIGNS) {
    const found = sign.exec(start)?.[0].trim();
    if (found === undefined) continue;
    const word = found.length > TOLD ? `${found.slice(0, TOLD - 1)}…` : found;
    for (const [rank, weight] of says) hints.push({ rank, weight, word, place: TITLE });
  }
  return hints;
}
