/**
 * What a plan says a task depends on, found among the list's tasks. People write ids, other spellings
 * of them, whole titles, and sometimes things that are no task at all.
 */
import type { TaskDef } from '../core/index.ts';
import { nearest } from '../core/index.ts';
import { type Counted, countedKey } from './checklist-ids.ts';
import { NUMBERED_IDS } from './checklist-title.ts';

/** What one task says it needs, as it stands there. */
export interface Need {
  task: TaskDef;
  line: number;
  said: string;
  /** Present where the words count only if they name tasks: the title without them. */
  title?: string;
}

const NOTHING =
  /^(?:none|n\/a|na|nothing|nil|null|no|-+|—|–|keine?|aucune?|ninguna?|nenhuma?|无|無|なし|لا يوجد|لا شيء)$/i;

/** Fills in `dependsOn`. Words that name no task and look like none are told, not waited for. */
export function resolveNeeds(tasks: readonly TaskDef[], needs: readonly Need[], counted: Counted): string[] {
  if (needs.length === 0) return [];
  const names = new Names(tasks, counted);
  const warnings: string[] = [];
  for (const need of needs) {
    if (need.title === undefined) resolve(need, names, warnings);
    else resolveWords(need, names);
  }
  return warnings;
}

function resolve({ task, line, said }: Need, names: Names, warnings: string[]): void {
  const whole = names.has(said) ? said : names.find(plain(said), task.id);
  const parts = whole === null ? partsOf(said) : [said];
  for (const part of parts) {
    const found = whole ?? names.find(part, task.id);
    const id = found ?? (looksLikeId(part) || names.isNear(part, task.id) ? part : null);
    if (id === null) {
      warnings.push(
        `line ${line}: "${task.id}" depends on "${part}", which is no task here and is not waited for`,
      );
    } else if (!task.dependsOn.includes(id)) task.dependsOn.push(id);
  }
}

/** "(after T2)" is a dependency where T2 is a task, and a part of the title elsewhere. */
function resolveWords({ task, said, title }: Need, names: Names): void {
  const found = partsOf(said).map((part) => names.find(part, task.id));
  if (found.length === 0 || found.includes(null) || found.includes(task.id)) return;
  for (const id of found) if (id !== null && !task.dependsOn.includes(id)) task.dependsOn.push(id);
  task.title = title!;
}

/** Every spelling under which a task of the list can be meant. */
class Names {
  readonly all: string[];
  private readonly tasks: readonly TaskDef[];
  private readonly ids: ReadonlySet<string>;
  private made: Map<string, string> | null = null;

  private readonly counted: Counted;

  constructor(tasks: readonly TaskDef[], counted: Counted) {
    this.tasks = tasks;
    this.counted = counted;
    this.all = tasks.map(({ id }) => id);
    this.ids = new Set(this.all);
  }

  /** Made when something else than an id is asked for the first time. */
  private get spellings(): ReadonlyMap<string, string> {
    if (this.made === null) {
      this.made = new Map(this.tasks.map(({ id, title }) => [title.toLowerCase(), id]));
      for (const id of this.all) this.made.set(id.toLowerCase(), id);
    }
    return this.made;
  }

  has(id: string): boolean {
    return this.ids.has(id);
  }

  /** Whether the word could be a slip of another task's id. */
  isNear(word: string, asker: string): boolean {
    const near = nearest(word, this.all);
    return near !== null && near !== asker;
  }

  /** The task that is meant; a number that every part of the plan has is the asker's own part's. */
  find(wanted: string, asker: string): string | null {
    if (this.ids.has(wanted)) return wanted;
    const name = wanted.toLowerCase().replace(/^#/, '');
    const numbered = NUMBERED.exec(name);
    const said = numbered === null ? [] : [`${NUMBERED_IDS[numbered[1]!] ?? numbered[1]!}-${numbered[2]}`];
    if (/^\d[\d.]*$/.test(name)) said.push(`task-${name}`, `step-${name}`, name);
    for (const id of said) {
      const found = this.inPart(id, asker) ?? this.spellings.get(id);
      if (found !== undefined) return found;
    }
    return this.spellings.get(name) ?? this.spellings.get(name.replace(/[^\p{L}\p{N}]+/gu, '-')) ?? null;
  }

  private inPart(name: string, asker: string): string | undefined {
    const part = this.counted.partOf.get(asker);
    return part === undefined ? undefined : this.counted.ids.get(countedKey(part, name));
  }
}

const NUMBERED =
  /^(task|user story|story|step|stage|phase|milestone|feature|item|issue|bug|ticket|aufgabe|schritt|tâche|étape|tarea|paso|tarefa|passo|задача|任务|任務|タスク|작업|مهمة|المهمة)[\s-]*#?(\d[\d.]*)$/;

function partsOf(said: string): string[] {
  const text = said.trim();
  const inner = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  return inner
    .split(/[,;、，；]|\s+(?:and|und|et|y|e|&|\+)\s+/)
    .map((part) => plain(part))
    .filter((part) => part !== '' && !NOTHING.test(part));
}

/** Without marks around it, and without a remark in brackets behind it. */
function plain(text: string): string {
  return text
    .trim()
    .replace(/\s*\([^)]*\)$/, '')
    .replace(/^(?:and|und|et)\s+/, '')
    .replace(/^[`*_"'[(]+|[`*_"'\]).。]+$/g, '')
    .trim();
}

/** One token that could be an id: it has a digit, or parts joined by hyphens. */
function looksLikeId(part: string): boolean {
  const token = /^#?[\p{L}\p{N}][\p{L}\p{N}_.-]*$/u.test(part) && /[\d_-]/.test(part);
  return token || NUMBERED.test(part.toLowerCase());
}
