/** Set-up: `init` proposes a configuration, `doctor` tries everything a run needs, `agents` lists who can work. */
import type { Command } from 'commander';
import { problemText } from '../core/index.ts';
import { answer, type Common, common, DECLINED, folderOf, isAsked } from './io.ts';

interface InitOptions extends Common {
  yes?: boolean;
  dryRun?: boolean;
}

interface DoctorOptions extends Common {
  agent?: boolean;
}

export function setupCommands(program: Command, done: (code: number) => void): void {
  common(
    program
      .command('init')
      .description('look at the project and propose a ralph.yml with gates; changes nothing else'),
    'ralph init --yes',
  )
    .option('--yes', 'write without asking')
    .option('--dry-run', 'show what would be written, and write nothing')
    .action(async (options: InitOptions) => done(await init(options)));
  common(
    program
      .command('doctor')
      .description('try everything a run needs: machine, git, gates, and one real start of the agent'),
    'ralph doctor --no-agent',
  )
    .option(
      '--no-agent',
      'do not start the agent: no cost, and nothing is known of its login and permissions',
    )
    .action(async (options: DoctorOptions) => done(await doctor(options)));
  common(
    program
      .command('agents')
      .description('who could work here: installed, logged in, configured, last failure'),
    'ralph agents',
  ).action(async (options: Common) => done(await agents(options)));
}

async function init(options: InitOptions): Promise<number> {
  const { openSetup } = await import('../app/index.ts');
  const setup = await openSetup(folderOf(options), process.env);
  const show = (text: string) => {
    if (!options.json) process.stdout.write(text);
  };
  const end = (written: boolean, last: string): void => {
    if (options.json) answer(options, setup.json(written), '');
    else show(last);
  };
  const asks = setup.changes && !options.yes && !options.dryRun;
  // Told in front as well: what is shown is longer than a screen.
  if (asks && !isAsked(options)) show(`${UNCONFIRMED.what} ${UNCONFIRMED.fix.slice(0, -1)}:\n\n`);
  show(setup.shown);
  if (options.dryRun && setup.changes) {
    end(false, '\nNothing was written (--dry-run).\n');
    return 0;
  }
  const consent = !setup.changes || options.yes ? 'yes' : await askConsent(options);
  if (consent === 'yes') {
    await setup.carryOut();
    end(setup.changes, `\n${setup.told(setup.changes)}`);
    return 0;
  }
  end(false, consent === 'no' ? 'Nothing was written.\n' : '');
  if (consent === 'no') return DECLINED;
  process.stderr.write(`${problemText(UNCONFIRMED)}\n`);
  return 5;
}

const UNCONFIRMED = {
  code: 'init.unconfirmed',
  what: 'Nothing was written, because nobody can be asked here.',
  why: 'There is no terminal to answer at, and --yes was not given.',
  fix: 'Run `ralph init --yes` to write this.',
};

async function askConsent(options: Common): Promise<'yes' | 'no' | 'nobody'> {
  if (!isAsked(options)) return 'nobody';
  const { confirm, isCancel } = await import('@clack/prompts');
  const said = await confirm({ message: 'Write this?' });
  return said === true && !isCancel(said) ? 'yes' : 'no';
}

/** Rows go by as they are known: the last ones take as long as the gates and the agent do. */
async function doctor(options: DoctorOptions): Promise<number> {
  const app = await import('../app/index.ts');
  const agent = options.agent !== false;
  const { rows, interrupted } = await app.examine({
    cwd: folderOf(options),
    env: process.env,
    agent,
    row: (row) => {
      if (!options.json) process.stdout.write(app.rowText(row));
    },
    say: (text) => {
      if (process.stderr.isTTY) process.stderr.write(`${text}\n`);
    },
  });
  if (interrupted !== null) {
    if (options.json) answer(options, { ok: false, interrupted, rows }, '');
    return interrupted === 'SIGINT' ? 130 : 143;
  }
  const ok = rows.every((row) => row.ok !== false);
  answer(options, { ok, rows }, `\n${app.verdictText(rows, agent)}`);
  return ok ? 0 : 5;
}

async function agents(options: Common): Promise<number> {
  const { listAgents } = await import('../app/index.ts');
  const { data, text, problems } = await listAgents(folderOf(options), process.env);
  answer(options, data, text);
  for (const facts of problems) process.stderr.write(`${problemText(facts)}\n`);
  return problems.length === 0 ? 0 : 5;
}
