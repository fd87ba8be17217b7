/**
 * What a plan says a task depends on, found among the list's tasks. People write ids, other spellings
 * of them, whole titles, and sometimes things that are no task at all.
 */
import type { TaskDef } from '../core/index.ts';
import { nearest } from '../core/index.ts';

/** What one task says it needs, as it stands there. */
export interface Need {
  task: TaskDef;
  line: number;
  said: string;
}

const NOTHING =
  /^(?:none|n\/a|na|nothing|nil|null|no|-+|—|–|keine?|aucune?|ninguna?|nenhuma?|无|無|なし|لا يوجد|لا شيء)$/i;

/** Fills in `dependsOn`. Words that name no task and look like none are told, not waited for. */
export function resolveNeeds(tasks: readonly TaskDef[], needs: readonly Need[]): string[] {
  if (needs.length === 0) return [];
  const names = new Names(tasks);
  const warnings: string[] = [];
  for (const { task, line, said } of needs) {
    const whole = names.has(said) ? said : names.find(plain(said));
    const parts = whole === null ? partsOf(said) : [said];
    for (const part of parts) {
      const found = whole ?? names.find(part);
      const id = found ?? (looksLikeId(part) || nearest(part, names.all) !== null ? part : null);
      if (id === null) {
        warnings.push(
          `line ${line}: "${task.id}" depends on "${part}", which is no task here and is not waited for`,
        );
      } else if (!task.dependsOn.includes(id)) task.dependsOn.push(id);
    }
  }
  return warnings;
}

/** Every spelling under which a task of the list can be meant. */
class Names {
  readonly all: string[];
  private readonly tasks: readonly TaskDef[];
  private readonly ids: ReadonlySet<string>;
  private made: Map<string, string> | null = null;

  constructor(tasks: readonly TaskDef[]) {
    this.tasks = tasks;
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

  find(wanted: string): string | null {
    if (this.ids.has(wanted)) return wanted;
    const name = wanted.toLowerCase().replace(/^#/, '');
    const numbered = NUMBERED.exec(name);
    const word = numbered?.[1] === 'story' || numbered?.[1] === 'user story' ? 'story' : 'task';
    return (
      this.spellings.get(name) ??
      (numbered === null ? undefined : this.spellings.get(`${word}-${numbered[2]}`)) ??
      (/^\d[\d.]*$/.test(name) ? this.spellings.get(`task-${name}`) : undefined) ??
      null
    );
  }
}

const NUMBERED =
  /^(task|user story|story|aufgabe|tâche|tarea|tarefa|задача|任务|任務|タスク|작업|مهمة|المهمة)\s*#?(\d[\d.]*)$/;

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
