/** What a person reads of `ralph init`: what was seen, what will be written, and what to do next. */
import { oneLine } from '../../views/index.ts';
import type { ConfigPlan, InitPlan } from './init.ts';
import type { FoundList } from './lists.ts';
import type { GitLook, ProjectLook } from './project-look.ts';

/** What was seen and what is proposed. */
export function planText(plan: InitPlan): string {
  const { look, config, ignore } = plan;
  const parts = [seenText(look), configPart(config)];
  if (ignore !== null && ignore.addition !== '') {
    const lines = ignore.addition.trim().split(/\r?\n/);
    parts.push(['.gitignore: these lines are added', ...lines.map((line) => `  + ${line}`)].join('\n'));
  }
  if (ignore?.byHand) {
    const lines = ignore.missing.map((line) => `  ${line}`);
    parts.push(
      [`${ignore.byHand}, so it is left alone. Add these lines to it yourself:`, ...lines].join('\n'),
    );
  }
  return `${parts.join('\n\n')}\n`;
}

function seenText(look: ProjectLook): string {
  const rows: [string, string][] = [
    ['Project', `${look.dir}${look.below === '' ? '' : ` (${look.below} of its repository)`}`],
    ['It is', look.kinds.join(', ') || 'nothing that is recognised: no manifest of a known tool is here'],
    ['Git', gitWords(look.git)],
    ['Tasks', look.lists.length === 0 ? 'no list found' : look.lists.map(listWords).join('\n')],
    ['Agents', look.agents.map(({ name, program }) => `${name} (${program})`).join(', ') || 'none installed'],
  ];
  if (look.loopFiles.length > 0)
    rows.push(['Other loop', `${look.loopFiles.join(', ')}: left as they are, nothing in them is used`]);
  for (const note of look.notes) rows.push(['Note', oneLine(note, 300)]);
  return rows
    .map(([name, text]) => `${name.padEnd(11)}${text.replaceAll('\n', `\n${' '.repeat(11)}`)}`)
    .join('\n');
}

function listWords({ path, open, done, problem }: FoundList): string {
  return `${oneLine(path)}: ${problem === null ? `${open} open, ${done} done` : oneLine(problem)}`;
}

function gitWords({ isRepository, branch, hasCommits, operation }: GitLook): string {
  if (!isRepository) return 'no repository';
  const where = branch === null ? 'detached HEAD' : `branch ${oneLine(branch)}`;
  return [where, hasCommits ? '' : 'no commit yet', operation === null ? '' : `a ${operation} is unfinished`]
    .filter((part) => part !== '')
    .join(', ');
}

function configPart({ path, state, text, diff }: ConfigPlan): string {
  if (state === 'same') return `${path} is there, just as it would be written now.`;
  const indented = (lines: string[]) => lines.map((line) => `  ${line}`.trimEnd());
  if (state === 'new') return [`${path} (new):`, ...indented(text.trimEnd().split('\n'))].join('\n');
  const head = `${path} is there and stays as it is.`;
  if (diff.length > 0)
    return [
      `${head} What would be written now differs so (-: only in yours, +: only proposed):`,
      ...indented(diff),
    ].join('\n');
  return [`${head} As ralph.yml these would be the proposals:`, ...indented(text.trimEnd().split('\n'))].join(
    '\n',
  );
}

/** The last words, after writing or where nothing is left to write. */
export function doneText(plan: InitPlan, written: boolean): string {
  const { config, ignore } = plan;
  const files = [
    ...(config.state === 'new' ? [config.path] : []),
    ...((ignore?.addition ?? '') === '' ? [] : ['.gitignore']),
  ];
  const told = written
    ? `Written: ${files.join(' and ')}. Nothing else was changed.`
    : 'Nothing to do: the project is set up, and nothing was changed.';
  const width = Math.max(...nextSteps(plan).map(([command]) => command.length));
  const steps = nextSteps(plan).map(([command, about]) => `  ${command.padEnd(width)}  ${about}`.trimEnd());
  return `${told}\n\nNext:\n${steps.join('\n')}\n`;
}

function nextSteps({ look }: InitPlan): [command: string, about: string][] {
  const steps: [string, string][] = [];
  if (!look.git.isRepository)
    steps.push(['git init', 'work is proved by what changed, and lands as commits']);
  else if (!look.git.hasCommits && look.holdsFiles)
    steps.push(['git add -A && git commit -m "Start"', "so that an agent's work can be told from yours"]);
  if (look.agents.length === 0)
    steps.push(['ralph agents', 'which coding agents there are, and how to install one']);
  if (!look.lists.some(({ problem }) => problem === null))
    steps.push(['edit PRD.md', 'write the tasks down, one line each: - [ ] Add a greet function']);
  steps.push(
    ['ralph doctor', 'tries the agent, git and every gate, and tells how to repair what fails'],
    ['ralph run', 'works until every task is done; `ralph run --dry-run` only says what it would do'],
  );
  return steps;
}
