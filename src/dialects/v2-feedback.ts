/**
 * `feedbacks/<stamp>/feedbacks.md`: what people found wrong with a cycle and want in the next one. People
 * write it in their own way, so nothing they say is dropped: what stands under no known heading is a
 * requirement. A form in which nobody has written is no feedback.
 */
import { frontMatterText, numberField, splitFrontMatter, timeField, timeOf } from './v2-front-matter.ts';
import { type Heading, headingsOf, itemsOf } from './v2-sections.ts';

type IssueKind = 'critical' | 'quality' | 'requirement';

export interface FeedbackIssue {
  /** e.g. `ISS-001`; made up where it has none. */
  id: string;
  kind: IssueKind;
  text: string;
}

export interface FeedbackReading {
  /** The cycle it is for: the folder's, else what it says; null where neither does. */
  cycle: number | null;
  /** Epoch ms: what it says, else the folder's stamp as UTC; null where neither does. */
  at: number | null;
  issues: FeedbackIssue[];
  /** Files named in its index or lying beside it. */
  artifacts: { file: string; description: string; present: boolean }[];
  /** Nobody has written anything: no feedback. */
  untouched: boolean;
  warnings: string[];
}

/** The form for feedback on the cycle before `cycle`. */
export function feedbackTemplate(cycle: number, stampIso: string): string {
  const front = frontMatterText({ iteration: cycle, timestamp: stampIso, previous_iteration: cycle - 1 });
  return `${front}
# Feedback Batch: ${stampIso}

## Critical Issues
- [ ] **ISS-001**: Description
  - Evidence:
  - Suggested Fix:

## Quality Issues
- [ ] **Q-001**: Description

## New Requirements
- [ ] **REQ-001**: Description

## Artifacts Index
| File | Description |
|------|-------------|
`;
}

type Part = { kind: IssueKind | 'artifacts' | 'other'; title: string; level: number; text: string };

const PREFIX: Readonly<Record<IssueKind, string>> = { critical: 'ISS', quality: 'Q', requirement: 'REQ' };

/**
 * Reads a batch. `folder` is its folder's name, or path with `iterations/<N>/` in it; `attachments` are
 * the names of what else lies there. Never throws.
 */
export function readFeedback(folder: string, text: string, attachments: readonly string[]): FeedbackReading {
  const front = splitFrontMatter(text);
  const warnings: string[] = [];
  const name = folder.replace(/[\\/]+$/, '').replace(/^.*[\\/]/, '');
  const said = numberField(front, 'iteration');
  const lies = /(?:^|[\\/])iterations[\\/](\d{1,6})[\\/]/.exec(folder);
  const cycle = lies === null ? said : Number(lies[1]);
  if (said !== null && cycle !== said) {
    warnings.push(`${name}: its front matter says iteration ${said}; the folder counts, which is ${cycle}'s`);
  }
  if (front.fault !== null) warnings.push(`${name}: its front matter is no plain YAML: ${front.fault}`);
  const parts = partsOf(withoutComments(front.body));
  const issues = new Issues(name, warnings);
  for (const part of parts) issues.take(part);
  const untouched = issues.all.length === 0;
  const artifacts = artifactsOf(parts, attachments);
  if (untouched) {
    const what = text.trim() === '' ? 'feedbacks.md is empty' : 'nobody has written anything into the form';
    warnings.push(`${name}: ${what}, so it is no feedback`);
  } else {
    for (const { file, present } of artifacts) {
      if (!present) warnings.push(`${name}: ${file} is in its index and does not lie beside it`);
    }
  }
  const at = timeField(front, 'timestamp') ?? stampOf(name);
  return { cycle, at, issues: issues.numbered(), artifacts, untouched, warnings };
}

/** `20260208-143000` as UTC. */
function stampOf(name: string): number | null {
  const match = /^(\d{4})(\d\d)(\d\d)[-_T]?(\d\d)(\d\d)(\d\d)$/.exec(name);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second] = match;
  return timeOf(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** Comments that stand on lines of their own; one in a line of code is no comment of the form. */
function withoutComments(body: string): string {
  return body.replace(/^[ \t]*<!--[\s\S]*?-->[ \t]*$/gm, '');
}

function kindOf({ name, level }: Heading): Part['kind'] {
  if (/^(?:critical|blocking|blockers?|bugs?)\b/.test(name)) return 'critical';
  if (/^(?:quality|minor|improvements?)\b/.test(name)) return 'quality';
  if (/^(?:(?:new|changed|additional) )?(?:requirements?|features?|requests?)\b/.test(name))
    return 'requirement';
  if (/^(?:artifacts?|attachments?)\b/.test(name) && level > 1) return 'artifacts';
  return 'other';
}

/** The text by its headings of a kind; deeper headings below one are its issues and stay in it. */
function partsOf(body: string): Part[] {
  const parts: Part[] = [];
  let open: Part = { kind: 'other', title: '', level: 0, text: '' };
  let from = 0;
  for (const heading of headingsOf(body)) {
    const kind = kindOf(heading);
    const inside = open.kind !== 'other' || (open.title !== '' && kind === 'other');
    // The index of files is no issue, however deep it stands.
    const index = kind === 'artifacts' && /^artifacts? index\b/.test(heading.name);
    if (inside && heading.level > open.level && !index) continue;
    parts.push({ ...open, text: body.slice(from, heading.start) });
    // The form's own title says nothing.
    const title = /^feedbacks?\b/.test(heading.name) ? '' : heading.title;
    open = { kind, title, level: heading.level, text: '' };
    from = heading.from;
  }
  parts.push({ ...open, text: body.slice(from) });
  return parts;
}

/** The issues of one batch as they come up. */
class Issues {
  readonly all: { id: string | null; kind: IssueKind; text: string }[] = [];
  private readonly name: string;
  private readonly warnings: string[];

  constructor(name: string, warnings: string[]) {
    this.name = name;
    this.warnings = warnings;
  }

  take({ kind, title, level, text }: Part): void {
    if (kind === 'artifacts') return;
    if (kind === 'other') {
      // A heading without words below it may be a form's own; a deep one, or one with an id, is an issue.
      if (isEmptyForm(text) && level < 3 && !ID.test(title)) return;
      const where = title === '' ? 'what stands under no heading' : `"${title}"`;
      this.warnings.push(`${this.name}: ${where} is taken as a requirement`);
      this.add('requirement', title === '' ? text : `${title}\n${text}`);
      return;
    }
    const headings = headingsOf(text);
    this.listed(kind, text.slice(0, headings[0]?.start ?? text.length));
    const top = Math.min(...headings.map(({ level }) => level));
    const issues = headings.filter(({ level }) => level === top);
    for (const [at, { title: head, from }] of issues.entries()) {
      this.add(kind, `${head}\n${text.slice(from, issues[at + 1]?.start ?? text.length)}`);
    }
  }

  private listed(kind: IssueKind, text: string): void {
    const all = itemsOf(text).filter(({ depth }) => depth === 0);
    const indent = ({ start }: { start: number }) => /^[ \t]*/.exec(text.slice(start, start + 99))![0].length;
    // Bullets set in a little below a number are meant to belong to it, though Markdown wants more blanks.
    const items = all.filter((item) => indent(item) <= indent(all[0]!));
    const lead = text.slice(0, items[0]?.start ?? text.length).trim();
    if (lead !== '' && !(items.length > 0 && lead.endsWith(':'))) this.add(kind, lead);
    for (const [at, { start }] of items.entries()) {
      const block = text.slice(start, items[at + 1]?.start ?? text.length);
      this.add(kind, block.replace(/^\s*(?:[-+*]|\d{1,9}[.)])\s*(?:\[[^\]\n]?\](?=\s|$)\s*)?/, ''));
    }
  }

  private add(kind: IssueKind, text: string): void {
    const id = ID.exec(text);
    const words = (id === null ? text : text.slice(id[0].length)).trim();
    if (isEmptyForm(words)) return;
    this.all.push({
      id: id === null ? null : id[1]!.toUpperCase().replace(/[_ ]/, '-'),
      kind,
      text: dedented(words),
    });
  }

  /** With an id for each; the second one of a name gets one of its own. */
  numbered(): FeedbackIssue[] {
    const used = new Set<string>();
    const named = this.all.map(({ id, kind, text }) => {
      if (id === null || used.has(id)) {
        if (id !== null)
          this.warnings.push(`${this.name}: ${id} stands twice; the second one gets another id`);
        return { id: null, kind, text };
      }
      used.add(id);
      return { id, kind, text };
    });
    const next = { critical: 1, quality: 1, requirement: 1 };
    return named.map(({ id, kind, text }) => {
      if (id !== null) return { id, kind, text };
      const made = () => `${PREFIX[kind]}-${String(next[kind]).padStart(3, '0')}`;
      while (used.has(made())) next[kind] += 1;
      const own = made();
      used.add(own);
      return { id: own, kind, text };
    });
  }
}

const ID = /^\W{0,4}((?:ISS|Q|REQ|BUG|FEAT)[-_ ]?\d{1,6})\b[*_`\])]*\s*(?:[:：.–—-]\s*)?[*_`]*\s*/i;

/** Lines below the first one without the indent they share. */
function dedented(text: string): string {
  const [first, ...rest] = text.split('\n');
  const indents = rest.filter((line) => line.trim() !== '').map((line) => /^ */.exec(line)![0].length);
  const indent = indents.length === 0 ? 0 : Math.min(...indents);
  return [first!, ...rest.map((line) => line.slice(Math.min(indent, line.length)))].join('\n').trim();
}

const EMPTY_WORDS =
  /^(?:(?:iss|q|req)-\d+|description|evidence|suggested fix|expected|actual|feature x|none|n\/a|tbd|todo|\.\.\.|…|app\.log, lines 45-60)?$/i;

/** Only labels, separators and placeholders: what a form holds before anybody writes. */
function isEmptyForm(text: string): boolean {
  return text.split('\n').every((line) => {
    if (line.length > 500) return false;
    const plain = line
      .trim()
      .replace(/^(?:[-+*]|\d{1,9}[.)])\s*(?:\[[ xX]?\]\s*)?/, '')
      .replace(/^(?:[-*_]\s*){3,}$/, '')
      .replace(/\[[^\]\n]*\]|<[^>\n]*>/g, '')
      .replace(/[*_`]/g, '');
    return plain.split(/[:|]/).every((word) => EMPTY_WORDS.test(word.trim()));
  });
}

function artifactsOf(parts: readonly Part[], attachments: readonly string[]): FeedbackReading['artifacts'] {
  const artifacts: FeedbackReading['artifacts'] = [];
  const beside = new Set(attachments.map((file) => file.toLowerCase()));
  const add = (file: string, description: string) => {
    const path = file
      .replace(/[`*]/g, '')
      .replace(/^\[([^\]]*)\]\([^)]*\)$/, '$1')
      .replace(/^\.\//, '')
      .trim();
    if (path === '' || artifacts.some((one) => one.file === path)) return;
    const present = beside.has(path.toLowerCase());
    // The form of old shows a file that nobody has.
    if (!present && path === 'app.log' && /^server logs$/i.test(description)) return;
    artifacts.push({ file: path, description, present });
  };
  for (const { kind, text } of parts) {
    if (kind !== 'artifacts') continue;
    const rows = text.split('\n').filter((line) => /^\s*\|/.test(line));
    for (const row of rows.slice(1)) {
      const [file = '', ...rest] = row
        .trim()
        .replace(/^\||\|$/g, '')
        .split('|');
      if (!/^[\s:-]*$/.test(file)) add(file.trim(), rest.join('|').trim());
    }
    for (const { text: item } of itemsOf(text)) {
      const match = /^(`[^`]+`|\[[^\]]*\]\([^)]*\)|\S+?)(?:\s*[:–—-]\s+(.*))?$/s.exec(item);
      if (match !== null) add(match[1]!, match[2] ?? '');
    }
  }
  for (const file of attachments) add(file, '');
  return artifacts;
}

/** The issues of several batches; an id that two of them use is qualified as `batch/ISS-001`. */
export function qualifyIssues(
  batches: readonly { batch: string; issues: readonly FeedbackIssue[] }[],
): (FeedbackIssue & { batch: string })[] {
  const count = new Map<string, number>();
  for (const { issues } of batches) {
    for (const id of new Set(issues.map((issue) => issue.id))) count.set(id, (count.get(id) ?? 0) + 1);
  }
  return batches.flatMap(({ batch, issues }) =>
    issues.map((issue) => ({
      ...issue,
      id: count.get(issue.id)! > 1 ? `${batch}/${issue.id}` : issue.id,
      batch,
    })),
  );
}
