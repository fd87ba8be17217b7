/**
 * `ralph init`: looks at the project, says what it would write, and writes two files: a new ralph.yml and
 * some lines at the end of .gitignore. What is there already is never overwritten; the second time
 * there is nothing left to do.
 */
import { existsSync, lstatSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Problem } from '../../core/index.ts';
import { findPlace } from '../place.ts';
import { stringEnv } from '../plan.ts';
import { configText } from './config-text.ts';
import { type IgnorePlan, planIgnore, requireWritable, unwritable, writeIgnore } from './ignore-lines.ts';
import { doneText, planText } from './init-text.ts';
import { lineDiff } from './line-diff.ts';
import { lookAtProject, type ProjectLook, setupFolder } from './project-look.ts';

const CONFIG = 'ralph.yml';
const OTHER_CONFIG = '.ralph/ralph.toml';

/** What `ralph init` found and would do. Nothing was written for it. */
export interface InitPlan {
  look: ProjectLook;
  config: ConfigPlan;
  /** null without git: there is nothing to keep the desk out of. */
  ignore: IgnorePlan | null;
  /** False: everything is there already. */
  changes: boolean;
}

export interface ConfigPlan {
  /** Relative to the project's folder: the file that is to be written, or that is there. */
  path: string;
  /** `new`: will be written · `same`: there, and as it would be written now · `yours`: there, and kept. */
  state: 'new' | 'same' | 'yours';
  /** What would be written now. */
  text: string;
  /** From what is there to what would be written; empty unless `yours`. */
  diff: string[];
}

async function planInit(cwd: string, env: NodeJS.ProcessEnv): Promise<InitPlan> {
  const place = await findPlace(cwd);
  const dir = setupFolder(place);
  const look = await lookAtProject(place, dir, stringEnv(env));
  const config = await planConfig(dir, configText(look));
  const ignore = look.git.isRepository ? await planIgnore(dir, stringEnv(env)) : null;
  const changes = config.state === 'new' || (ignore?.addition ?? '') !== '';
  return { look, config, ignore, changes };
}

/** A set-up that was looked at, for a front to show and to carry out. */
export interface Setup {
  /** False: everything is there already. */
  changes: boolean;
  /** What was seen and what would be written. */
  shown: string;
  /** Writes it. Throws a Problem where a file cannot be written; then nothing is. */
  carryOut(): Promise<void>;
  /** The last words: what was written, and what to do next. */
  told(written: boolean): string;
  json(written: boolean): Record<string, unknown>;
}

/** Looks at the project around `cwd` and changes nothing. */
export async function openSetup(cwd: string, env: NodeJS.ProcessEnv): Promise<Setup> {
  const plan = await planInit(cwd, env);
  return {
    changes: plan.changes,
    shown: planText(plan),
    carryOut: () => carryOut(plan),
    told: (written) => doneText(plan, written),
    json: (written) => initJson(plan, written),
  };
}

async function planConfig(dir: string, text: string): Promise<ConfigPlan> {
  const [own, other] = [join(dir, CONFIG), join(dir, OTHER_CONFIG)];
  if (lstatSync(own, { throwIfNoEntry: false }) === undefined) {
    return existsSync(other)
      ? { path: OTHER_CONFIG, state: 'yours', text, diff: [] }
      : { path: CONFIG, state: 'new', text, diff: [] };
  }
  const there = await readFile(own, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Problem({
      code: 'init.unreadable',
      what: `${CONFIG} is there and cannot be read.`,
      why: error.code === 'ENOENT' ? 'It is a link to a file that is missing.' : error.message,
      fix: `Repair or remove ${own}, then run \`ralph init\` again.`,
    });
  });
  const diff = lineDiff(there, text);
  return { path: CONFIG, state: diff.length === 0 ? 'same' : 'yours', text, diff };
}

/** Writes what the plan says. Looks first whether both files can be written, so that none is left half done. */
async function carryOut({ look, config, ignore }: InitPlan): Promise<void> {
  const file = join(look.dir, CONFIG);
  const addition = ignore?.addition ?? '';
  await requireWritable(look.dir, [
    ...(config.state === 'new' ? [file] : []),
    ...(addition === '' ? [] : [ignore!.file]),
  ]);
  if (config.state === 'new') {
    try {
      // Exclusive: a file that somebody made meanwhile is theirs.
      await writeFile(file, config.text, { flag: 'wx' });
    } catch (error) {
      throw unwritable(file, error);
    }
  }
  if (ignore !== null) await writeIgnore(ignore);
}

/** What `--json` prints. */
function initJson(plan: InitPlan, written: boolean): Record<string, unknown> {
  const { look, config, ignore } = plan;
  return {
    project: look.dir,
    kinds: look.kinds,
    gates: look.gates.map(({ name, run, timeoutS, minTests, why }) => ({
      name,
      run,
      timeout_s: timeoutS,
      min_tests: minTests,
      why,
    })),
    task_lists: look.lists.map(({ path, isDefault, open, done, problem }) => ({
      path,
      found_by_itself: isDefault,
      open,
      done,
      problem,
    })),
    other_loops: look.loopFiles,
    agents: look.agents,
    git: {
      repository: look.git.isRepository,
      branch: look.git.branch,
      commits: look.git.hasCommits,
      operation: look.git.operation,
    },
    notes: look.notes,
    config: { path: config.path, state: config.state, text: config.text, diff: config.diff },
    gitignore:
      ignore === null
        ? null
        : {
            path: relative(look.dir, ignore.file),
            added: ignore.addition === '' ? [] : ignore.missing,
            by_hand: ignore.byHand,
          },
    changes: plan.changes,
    written,
  };
}
