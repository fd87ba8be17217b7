/**
 * `questions/<category>.md`: rounds of questions that the questioner asks and later answers, each under
 * its cycle. The file only grows. A question is answered by words, never by a status that says so.
 */
import { type FrontMatter, numberField, splitFrontMatter, textField } from './v2-front-matter.ts';
import { bare, type Heading, headingsOf, itemsOf, labelledValues } from './v2-sections.ts';

export interface QuestionAnswer {
  text: string;
  source: string;
  confidence: string;
  implication: string;
  /** The research found nothing and says so: "Research Needed". */
  researchNeeded: boolean;
}

export interface AskedInRound {
  /** e.g. `Q-TECH-001`; empty where it has none. */
  id: string;
  text: string;
  priority: string;
  status: string;
  impact: string;
  line: number;
  answer: QuestionAnswer | null;
}

export interface QuestionRound {
  cycle: number;
  questions: AskedInRound[];
}

export interface QuestionsReading {
  /** e.g. `technical`; null where the file does not say. */
  category: string | null;
  /** By their cycle, the first one first. */
  rounds: QuestionRound[];
  /** What the questioner must correct. */
  faults: string[];
}

/** Reads a file of questions. Never throws. */
export function readQuestions(text: string): QuestionsReading {
  const front = splitFrontMatter(text);
  const reading = new Rounds(front);
  const rounds = [...reading.rounds.values()].filter(({ questions }) => questions.length > 0);
  rounds.sort((a, b) => a.cycle - b.cycle);
  return { category: textField(front, 'category'), rounds, faults: reading.faults(rounds) };
}

/** The questions nobody has answered yet; "Research Needed" is an answer, as asking again would not help. */
export function openQuestions(text: string): AskedInRound[] {
  return readQuestions(text).rounds.flatMap(({ questions }) =>
    questions.filter(({ answer }) => answer === null),
  );
}

/** How many questions the last round asks; 0 without a round. */
export function questionsOfLastRound(text: string): number {
  return readQuestions(text).rounds.at(-1)?.questions.length ?? 0;
}

/** What the questioner must correct; `text` is null where the file is missing. */
export function questionFaults(text: string | null): string[] {
  if (text === null) return ['the file of questions is missing'];
  return readQuestions(text).faults;
}

const LABELS =
  /^(?:(?:question )?id|question|priority|status|impact|answer|sources?|confidence|implications?)$/;
const ID = /\bQ-[A-Z][A-Z-]*-?\d+\b|\bQ-?\d+\b/i;

type Part = { kind: 'round' | 'answers'; cycle: number | null } | { kind: 'entry'; number: number | null };

/** What a heading opens; null for one that is part of what is open. */
function partOf({ title }: Heading): Part | null {
  const words = title.replace(/[*_`]/g, '').trim();
  const numbered = /\d+/.exec(words.replace(ID, ''));
  const number = numbered === null ? null : Number(numbered[0]);
  if (/^answers\b/i.test(words)) return { kind: 'answers', cycle: number };
  if (/^(?:cycle|round)\b|^questions\b.*\b(?:cycle|round)\b/i.test(words))
    return { kind: 'round', cycle: number };
  if (/^(?:\d+[.)]\s*)?(?:question|answer)\b/i.test(words) || ID.test(words))
    return { kind: 'entry', number };
  return null;
}

/** The rounds as they come up in the text. */
class Rounds {
  readonly rounds = new Map<number, QuestionRound>();
  private readonly unmatched: string[] = [];
  private readonly body: string;
  private readonly above: number;

  constructor(front: FrontMatter) {
    const { body } = front;
    const first = numberField(front, 'cycle') ?? 1;
    this.body = body;
    this.above = front.above;
    const parts = headingsOf(body).flatMap((heading) => {
      const part = partOf(heading);
      return part === null ? [] : [{ heading, part }];
    });
    const answers: (() => void)[] = [];
    let cycle = first;
    let answering = false;
    this.listed(0, parts[0]?.heading.start ?? body.length, cycle);
    for (const [at, { heading, part }] of parts.entries()) {
      const end = parts[at + 1]?.heading.start ?? body.length;
      const from = heading.from;
      if (part.kind !== 'entry') {
        cycle = part.cycle ?? cycle;
        answering = part.kind === 'answers';
        const [here, asked] = [cycle, !answering];
        if (asked) this.listed(from, end, here);
        else answers.push(() => this.listedAnswers(from, end, here));
      } else if (answering || /^(?:\d+[.)]\s*)?\**answer\b/i.test(heading.title)) {
        const here = cycle;
        answers.push(() =>
          this.answer(heading.title, body.slice(from, end), { cycle: here, number: part.number }),
        );
      } else this.question(heading.title, body.slice(from, end), { cycle, line: heading.line });
    }
    // An answer may stand before a question of a later round; all questions are known first.
    for (const answer of answers) answer();
  }

  faults(rounds: readonly QuestionRound[]): string[] {
    if (this.body.trim() === '') return ['the file of questions is empty'];
    const questions = rounds.flatMap((round) => round.questions);
    if (questions.length === 0) {
      return ['there is no question; write "## Cycle 1" and below it "### Question 1" with ID and Question'];
    }
    const faults: string[] = [];
    const lines = new Map<string, number>();
    for (const { id, text, line } of questions) {
      const name = id === '' ? `the question in line ${line}` : id;
      if (id === '') faults.push(`${name} has no ID`);
      if (text === '') faults.push(`${name} has no words`);
      const before = lines.get(id.toLowerCase());
      if (id !== '' && before !== undefined)
        faults.push(`${id} stands twice, in lines ${before} and ${line}`);
      else lines.set(id.toLowerCase(), line);
    }
    for (const name of this.unmatched)
      faults.push(`the answer to "${name}" answers no question of this file`);
    return faults;
  }

  private round(cycle: number): QuestionRound {
    const round = this.rounds.get(cycle) ?? { cycle, questions: [] };
    this.rounds.set(cycle, round);
    return round;
  }

  private question(title: string, text: string, { cycle, line }: { cycle: number; line: number }): void {
    const values = labelledValues(text, LABELS);
    const id = idIn(values.get('id') ?? values.get('question id') ?? '') ?? idIn(title) ?? '';
    const said = values.get('question') ?? restOf(title) ?? firstWords(text);
    this.round(cycle).questions.push({
      id,
      text: bare(said),
      priority: firstLine(values.get('priority')),
      status: firstLine(values.get('status')),
      impact: values.get('impact') ?? '',
      line: line + this.above,
      answer: answerOf(values),
    });
  }

  /** Questions as bullets that begin with an ID. */
  private listed(from: number, end: number, cycle: number): void {
    for (const { title, text, line } of this.bullets(from, end)) {
      this.question(title, text, { cycle, line });
    }
  }

  private listedAnswers(from: number, end: number, cycle: number): void {
    for (const { title, text } of this.bullets(from, end)) this.answer(title, text, { cycle, number: null });
  }

  private bullets(from: number, end: number): { title: string; text: string; line: number }[] {
    const region = this.body.slice(from, end);
    const before = this.body.slice(0, from).split('\n').length - 1;
    const items = itemsOf(region).filter(({ depth, text }) => depth === 0 && ID.test(text.slice(0, 40)));
    return items
      .filter(({ text }) => /^[\W_]*Q-?/i.test(text))
      .map(({ text, start, line }, at, all) => {
        const block = region.slice(start, all[at + 1]?.start ?? region.length);
        const below = block.slice(block.indexOf('\n') === -1 ? block.length : block.indexOf('\n') + 1);
        const [head] = text.split(
          /\s+(?=\(?(?:\*\*|__)?(?:Priority|Answer|Status|Impact)\b\s*(?:\*\*|__)?:)/i,
        );
        const tail = text.slice(head!.length).replace(/^[\s(]+/, '');
        return { title: head!, text: `${tail}\n${below}`, line: line + before };
      });
  }

  private answer(title: string, text: string, place: { cycle: number; number: number | null }): void {
    const values = labelledValues(text, LABELS);
    const id =
      idIn(values.get('id') ?? values.get('question id') ?? '') ??
      idIn(title) ??
      idIn(values.get('question') ?? '');
    const question = this.find(id, place);
    if (question === null) {
      this.unmatched.push(id ?? title);
      return;
    }
    if (!values.has('answer')) {
      const words = restOf(title) ?? '';
      const said = words === '' || words === question.text ? firstWords(text) : words;
      values.set('answer', said);
    }
    question.answer = answerOf(values) ?? question.answer;
  }

  private find(
    id: string | null,
    { cycle, number }: { cycle: number; number: number | null },
  ): AskedInRound | null {
    if (id === null) return number === null ? null : (this.rounds.get(cycle)?.questions[number - 1] ?? null);
    const wanted = id.toLowerCase();
    const rounds = [this.rounds.get(cycle), ...[...this.rounds.values()].reverse()];
    for (const round of rounds) {
      const found = round?.questions.find((question) => question.id.toLowerCase() === wanted);
      if (found !== undefined) return found;
    }
    return null;
  }
}

function idIn(text: string): string | null {
  const found = ID.exec(text);
  return found === null ? null : found[0].toUpperCase();
}

/** The words of a heading behind "Question 1" or an ID; null where there are none. */
function restOf(title: string): string | null {
  const words = title
    .replace(/[*`]/g, '')
    .replace(/^[\s\d.)]*(?:question|answer)\b\s*#?\d*/i, '')
    .replace(ID, '')
    .replace(/^[\s:()[\]–—-]+/, '')
    .trim();
  return words === '' ? null : words;
}

/** The words of an entry that stand behind no label. */
function firstWords(text: string): string {
  const lines = text.split('\n');
  const end = lines.findIndex((line) =>
    /^\s*(?:[-*+]\s+)?(?:\*\*|__)?[A-Za-z ]{2,20}(?:\*\*|__)?:/.test(line),
  );
  return (end === -1 ? lines : lines.slice(0, end)).join('\n').trim();
}

function firstLine(text: string | undefined): string {
  return bare((text ?? '').split('\n')[0]!);
}

const UNSAID =
  /^[[(<*_`\s]*(?:pending|tbd|tba|todo|to be (?:filled|answered|researched|determined)|unanswered|not (?:yet )?answered(?: yet)?|open|none(?: yet)?|n\/a|[-–—]+|…|\.{3})?[\])>*_`.\s]*$/i;

function answerOf(values: ReadonlyMap<string, string>): QuestionAnswer | null {
  const text = values.get('answer') ?? '';
  const needed = /^[[(*_`\s]*(?:more |further )?research (?:is )?needed\b/i;
  const researchNeeded = needed.test(text) || (UNSAID.test(text) && needed.test(values.get('status') ?? ''));
  if (UNSAID.test(text) && !researchNeeded) return null;
  return {
    text: text.trim(),
    source: values.get('source') ?? values.get('sources') ?? '',
    confidence: firstLine(values.get('confidence')),
    implication: values.get('implication') ?? values.get('implications') ?? '',
    researchNeeded,
  };
}
