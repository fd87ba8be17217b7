/** `ralph import`: shows what a task list holds and what would be written, asks where it must, and writes. */
import type { Command } from 'commander';
import type { ImportChoices, ImportPlan, ImportRequest } from '../app/index.ts';
import { Problem } from '../core/index.ts';
import { answer, type Common, common, DECLINED, folderOf, isAsked, printResult } from './io.ts';

interface ImportOptions extends Common {
  to?: string;
  list?: string;
  dryRun?: boolean;
  yes?: boolean;
  fix?: boolean;
}

export function importCommand(program: Command, done: (code: number) => void): void {
  common(
    program
      .command('import')
      .argument('<file>', 'a task list in any format: prd.json, tasks.yaml, a Markdown plan')
      .description('show what a task list holds, and write it as ralph/tasks.json'),
    'ralph import prd.json --dry-run',
  )
    .option('--to <path>', 'where the list is written; default: ralph/tasks.json')
    .option('--list <name>', 'the list that is meant, only where the file holds several')
    .option('--dry-run', 'show what would be written, and write nothing')
    .option('--yes', 'write without asking, also over a file that is there')
    .option(
      '--fix',
      'repair comments, trailing commas and tabs in the file itself; with --to only in the copy',
    )
    .action(async (file: string, options: ImportOptions) => done(await importList(file, options)));
}

async function importList(file: string, options: ImportOptions): Promise<number> {
  const app = await import('../app/index.ts');
  const plan = await chosenPlan(requestOf(file, options), options);
  if (plan === null) return DECLINED;
  if (typeof plan === 'number') return plan;
  const show = (text: string) => {
    if (!options.json) process.stdout.write(text);
  };
  const end = async (written: boolean): Promise<void> => {
    const { value, told } = await app.importResult(plan, { written, json: options.json === true });
    if (options.json) answer(options, value, '');
    else show(told);
  };
  if (!options.json) show(`${await app.importPreview(plan)}\n`);
  if (options.dryRun || plan.write === null) {
    if (plan.write !== null) show('Nothing was written (--dry-run).\n');
    await end(false);
    return 0;
  }
  const consent = options.yes ? 'yes' : await askConsent(plan.write, options);
  if (consent === 'no') {
    show('Nothing was written.\n');
    return DECLINED;
  }
  if (consent === 'nobody') throw unconfirmed(plan.write.path);
  await app.carryOutImport(plan);
  await end(true);
  return 0;
}

function requestOf(file: string, { to, list, fix, ...options }: ImportOptions): ImportRequest {
  return {
    cwd: folderOf(options),
    file,
    fix: fix === true,
    ...(to !== undefined && { to }),
    ...(list !== undefined && { list }),
  };
}

/** Asks which of several lists is meant; a number is the exit code where nobody can be asked. */
async function chosenPlan(
  request: ImportRequest,
  options: ImportOptions,
): Promise<ImportPlan | number | null> {
  const app = await import('../app/index.ts');
  const plan = await app.planImport(request);
  if (plan.kind === 'plan') return plan;
  if (!isAsked(options)) return refuseChoices(plan, options);
  const { isCancel, select } = await import('@clack/prompts');
  const list = await select({
    message: 'Which of these lists holds the tasks?',
    options: plan.choices.map(({ list: value, tasks, first }) => ({
      value,
      label: `${value} (${tasks} ${tasks === 1 ? 'item' : 'items'})`,
      hint: first,
    })),
  });
  return isCancel(list) ? null : chosenPlan({ ...request, list }, options);
}

function refuseChoices({ problem, choices }: ImportChoices, options: Common): number {
  if (!options.json) throw problem;
  const exit = { code: 5, word: 'PROBLEM', reason: problem.facts.what };
  printResult(exit, { problems: [problem.facts], choices });
  return 5;
}

/** A new file takes nothing away, so that only a person who is there is asked about it. */
async function askConsent(
  write: { path: string; before: string | null },
  options: Common,
): Promise<'yes' | 'no' | 'nobody'> {
  if (!isAsked(options)) return write.before === null ? 'yes' : 'nobody';
  const { confirm } = await import('@clack/prompts');
  const message = write.before === null ? `Write ${write.path}?` : `Change ${write.path} as shown?`;
  return (await confirm({ message })) === true ? 'yes' : 'no';
}

function unconfirmed(path: string): Problem {
  return new Problem({
    code: 'import.exists',
    what: `${path} is there already; nothing was written.`,
    why: 'Nobody can be asked here, and --yes was not given.',
    fix: 'Add --yes to write what was shown, or name another place with --to.',
    at: path,
  });
}
