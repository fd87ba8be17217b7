/**
 * Keeps the machine from falling asleep while a run is at work (`host.keep_awake`): a child that asks the system for
 * it. The child cannot outlive this process, however that ends: on Linux it reads a pipe that closes with us, on
 * macOS it watches our pid. A machine that cannot be kept awake is told of, and keeps no run from going on.
 */
import type { ProblemFacts } from '../core/index.ts';
import { findProgram, run } from '../process/index.ts';
import { withoutOwnSecrets } from './environment.ts';

const WHY = 'a run is at work';
/** From the end of its input to its end, before it is ended. */
const LEAVE_MS = 1_000;
const TRY_MS = 10_000;

/** What keeps this system awake as long as `during` runs; null: nothing that is known. */
interface Means {
  program: string;
  during(command: 'us' | 'nothing'): string[];
}

function meansOf(platform: NodeJS.Platform): Means | null {
  if (platform === 'linux') {
    const asked = ['--what=idle:sleep', '--who=ralph', `--why=${WHY}`, '--mode=block'];
    // `cat` ends with its input, which is ours.
    const during = (what: 'us' | 'nothing') => [...asked, what === 'us' ? 'cat' : 'true'];
    return { program: 'systemd-inhibit', during };
  }
  if (platform === 'darwin') {
    const during = (what: 'us' | 'nothing') =>
      what === 'us' ? ['-i', '-w', String(process.pid)] : ['-i', 'true'];
    return { program: 'caffeinate', during };
  }
  return null;
}

export interface KeptAwake {
  /** Why the machine may fall asleep all the same, as soon as that is known; null once it was let go. */
  trouble: Promise<string | null>;
  /** Lets it sleep again; settles when the child is gone. */
  release(): Promise<void>;
}

/** From now until `release`. Never throws. */
export function keepAwake(env: NodeJS.ProcessEnv, platform = process.platform): KeptAwake {
  const given = withoutOwnSecrets(env);
  const means = meansOf(platform);
  const lacking = lackOf(means, given, platform);
  if (means === null || lacking !== null)
    return { trouble: Promise.resolve(lacking && troubleWords(lacking)), release: () => Promise.resolve() };
  const child = run({
    command: [means.program, ...means.during('us')],
    cwd: '/',
    env: given,
    input: 'keep-open',
    wallMs: null,
    idleMs: null,
    graceMs: LEAVE_MS,
  });
  let released = false;
  return {
    trouble: child.done.then((result) =>
      released ? null : troubleWords(`${means.program} ended${saidBy(result)}`),
    ),
    async release() {
      released = true;
      child.endInput();
      const late = setTimeout(() => void child.stop(), LEAVE_MS);
      // One that watches our pid is told at once.
      if (platform === 'darwin') void child.stop();
      await child.done;
      clearTimeout(late);
    },
  };
}

/** For the doctor: asks the system once, and lets go at once. */
export async function awakeProblems(
  env: Record<string, string>,
  platform = process.platform,
): Promise<ProblemFacts[]> {
  const means = meansOf(platform);
  const lacking = lackOf(means, env, platform);
  if (means === null || lacking !== null) return [problem(lacking!)];
  const command = [means.program, ...means.during('nothing')];
  const result = await run({ command, cwd: '/', env, wallMs: TRY_MS, idleMs: null }).done;
  if (result.ending === 'exited' && result.exitCode === 0) return [];
  return [problem(`\`${means.program}\` fails here${saidBy(result)}`)];
}

function lackOf(means: Means | null, env: Record<string, string>, platform: NodeJS.Platform): string | null {
  if (means === null) return `nothing that keeps this system (${platform}) awake is known`;
  return findProgram(means.program, env) === null
    ? `no folder of PATH holds \`${means.program}\`, which would ask this system for it`
    : null;
}

function saidBy({
  stderrTail,
  error,
  exitCode,
}: {
  stderrTail: string;
  error: string | null;
  exitCode: number | null;
}): string {
  const said =
    stderrTail.trim().split('\n').at(-1) || error || (exitCode === null ? '' : `exit code ${exitCode}`);
  return said === '' ? '' : `: ${said.slice(0, 300)}`;
}

const DO = 'Keep it from sleeping in the settings of your system, or set `host.keep_awake: false`';

function troubleWords(why: string): string {
  return `This machine is not kept awake (host.keep_awake): ${why}. The run goes on; where the machine sleeps it goes on when it wakes. ${DO}.`;
}

function problem(why: string): ProblemFacts {
  return {
    code: 'host.not_kept_awake',
    what: `This machine would not be kept awake: ${why}.`,
    why: '`host.keep_awake` is set. A machine that falls asleep works on nothing until it wakes; nothing else is lost by it.',
    fix: `${DO}.`,
  };
}
