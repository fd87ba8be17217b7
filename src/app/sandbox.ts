/**
 * What agents are shut into. `bwrap`: they see the machine read-only and write in their work tree, of its git
 * folder what a commit needs, their outbox and works, their own settings in the home folder, and a /tmp that is
 * theirs alone; Ralph's journal, `.ralph/` and `ralph.yml` stay read-only, and its key is not seen. `command`: a wrapper of the user's own. Process
 * ids stay those of the machine, so that a tree is found and ended as without a sandbox. Gates run outside.
 */
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import type { Sandbox } from '../config/index.ts';
import type { ProblemFacts } from '../core/index.ts';
import type { Agent, AgentCall } from '../engine/index.ts';
import { findProgram, run } from '../process/index.ts';
import { findProject } from '../repo/index.ts';
import { stateFolder } from '../store/index.ts';
import { type GitMounts, gitMounts } from './sandbox-git.ts';

/** Below the home folder: where agent programs keep what they know between runs. */
const HOMES = [
  ...['.claude', '.claude.json', '.codex', '.pi', '.gemini', '.qwen', '.copilot'],
  ...['.config', '.cache', '.local', '.npm'],
];
/** Without these hardly a program starts. */
const ALWAYS = /^(RALPH_.*|PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TZ|TERM)$/;
/** As root these would undo the mounts or reach other programs' files. */
const DROPPED = ['CAP_SYS_ADMIN', 'CAP_SYS_PTRACE', 'CAP_SYS_MODULE', 'CAP_SYS_RAWIO', 'CAP_MKNOD'];
const TRY_MS = 10_000;

interface Shape {
  network: boolean;
  env: string[] | null;
  write: string[];
}

function shapeOf(sandbox: Sandbox): Shape | null {
  if (sandbox === 'bwrap') return { network: true, env: null, write: [] };
  if (typeof sandbox === 'string' || 'command' in sandbox) return null;
  const { network, env = null, write } = sandbox.bwrap;
  return { network, env, write };
}

/** Its kind, for programs. */
export function sandboxKind(sandbox: Sandbox): 'none' | 'bwrap' | 'command' {
  return typeof sandbox === 'string' ? sandbox : 'command' in sandbox ? 'command' : 'bwrap';
}

/** What agents are shut into, for a person. */
export function sandboxWords(sandbox: Sandbox): string {
  const shape = shapeOf(sandbox);
  if (shape !== null) return `bwrap, ${shape.network ? 'with' : 'without'} network; gates run outside`;
  if (typeof sandbox === 'string') return 'none: agents run as you do';
  return `${(sandbox as { command: string[] }).command.join(' ')}; gates run outside`;
}

/** The agent, every run of it inside of the sandbox. */
export function shutIn(agent: Agent, sandbox: Sandbox): Agent {
  if (sandbox === 'none') return agent;
  const shape = shapeOf(sandbox);
  return {
    name: agent.name,
    // What it can do may become known by the check only.
    get capabilities() {
      return agent.capabilities;
    },
    check: () => agent.check(),
    billIn: (cutOff) => agent.billIn(cutOff),
    async start(call) {
      if (shape !== null) return agent.start(await insideBwrap(call, shape));
      const { command } = sandbox as { command: string[] };
      return agent.start({ ...call, wrap: (inner) => [...command, ...inner] });
    },
  };
}

async function insideBwrap(call: AgentCall, shape: Shape): Promise<AgentCall> {
  const project = await findProject(call.cwd);
  const { root } = project;
  const mounts = writable(call, { shape, root, git: await gitMounts(project, call.env) });
  const { env: allowed } = shape;
  const kept = Object.entries(call.env).filter(
    ([name]) => allowed === null || allowed.includes(name) || ALWAYS.test(name),
  );
  return {
    ...call,
    env: { ...Object.fromEntries(kept), TMPDIR: '/tmp' },
    wrap: (inner) => [
      ...base(shape),
      ...shownInTmp([call.cwd, root, ...seen(call, inner)]),
      ...mounts,
      ...['--chdir', call.cwd, '--', ...inner],
    ],
  };
}

function base({ network }: Shape): string[] {
  const isRoot = process.getuid?.() === 0;
  return [
    ...['bwrap', '--ro-bind', '/', '/', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...(network ? [] : ['--unshare-net']),
    ...(isRoot ? DROPPED.flatMap((one) => ['--cap-drop', one]) : []),
  ];
}

/** Paths that the agent needs to see wherever they lie. */
function seen({ env, promptPath }: AgentCall, command: readonly string[]): string[] {
  const { PATH = '', HOME = '', RALPH_SESSION_DIR: sessionDir = '', RALPH_OUTBOX: outbox = '' } = env;
  const own = [process.execPath, process.argv[1] ?? ''];
  return [...own, ...PATH.split(delimiter), HOME, sessionDir, outbox, promptPath, ...command];
}

/** Its /tmp is fresh, but for what it needs there: read-only, until a later mount says more. */
function shownInTmp(paths: string[]): string[] {
  const tops = paths
    .filter((path) => isAbsolute(path))
    .flatMap((path) => [path, real(path)])
    .filter((path) => path.startsWith('/tmp/'))
    .map((path) => path.split(sep).slice(0, 3).join(sep));
  return [...new Set(tops)].flatMap((path) => ['--ro-bind-try', path, path]);
}

/** What may be written, then what in it may not, then what in that may; the last mount of a path counts. */
function writable(
  { cwd, env }: AgentCall,
  { shape, root, git }: { shape: Shape; root: string; git: GitMounts },
): string[] {
  const { HOME: home = '', RALPH_SESSION_DIR: sessionDir = '', RALPH_OUTBOX: outbox = '' } = env;
  const mainDir = dirname(dirname(sessionDir));
  const memories = join(mainDir, '.ralph', 'memories.md');
  // A file that is not there cannot be made writable, and agents add to it.
  if (existsSync(dirname(memories))) writeFileSync(memories, '', { flag: 'a' });
  const homes = home === '' ? [] : HOMES.map((name) => join(home, name));
  const may = [...homes, ...shape.write.map((path) => atHome(path, home))];
  const state = stateFolder(env);
  // Who makes it later would make it in the open.
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const mayNot = [
    ...[mainDir, cwd].flatMap((dir) =>
      ['.ralph', '.ralph-sessions', 'ralph.yml'].map((name) => join(dir, name)),
    ),
    ...runOutside(env, may),
  ];
  const around = mayNot.filter((path) => root.startsWith(`${path}${sep}`));
  const still = [
    ...(outbox === '' ? [] : [dirname(outbox)]),
    ...['iterations', 'knowledge'].map((name) => join(sessionDir, name)),
    memories,
    ...git.own,
  ];
  const all = (how: string, paths: string[]) => paths.flatMap((path) => mount(how, path));
  return [
    ...all('--bind', may),
    // Nothing of it is seen but a work tree of ours that lies in it.
    ...['--tmpfs', real(state)],
    ...all('--ro-bind', around),
    ...all('--bind', [root, ...git.open]),
    ...all('--ro-bind', [...mayNot.filter((path) => !around.includes(path)), ...git.shut]),
    ...all('--bind', still),
    ...all('--ro-bind', git.ownShut),
    ...['--remount-ro', real(state)],
  ];
}

/** What programs outside of the sandbox are started from, or take their orders from, where it could be written. */
function runOutside(env: Record<string, string>, may: string[]): string[] {
  const { HOME: home = '', PATH = '', XDG_CONFIG_HOME: config = '' } = env;
  const isOpen = (path: string) => may.some((open) => path === open || path.startsWith(`${open}${sep}`));
  const folders = [join(home, '.config'), config].filter(
    (folder) => isAbsolute(folder) && existsSync(folder),
  );
  const settings = folders.flatMap((folder) => ['git', 'ralph'].map((name) => join(folder, name)));
  for (const folder of settings.filter(isOpen)) mkdirSync(folder, { recursive: true });
  return [...settings, join(home, '.gitconfig'), ...PATH.split(delimiter).filter(isOpen)];
}

function atHome(path: string, home: string): string {
  return path.replace(/^~(?=\/|$)/, home);
}

function mount(how: string, path: string): string[] {
  return existsSync(path) ? [how, real(path), real(path)] : [];
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Whether the sandbox can be used on this machine; what keeps it, as a person can mend it. */
export async function sandboxProblems(
  sandbox: Sandbox,
  env: Record<string, string>,
): Promise<ProblemFacts[]> {
  if (sandbox === 'none') return [];
  const shape = shapeOf(sandbox);
  const program = shape === null ? ((sandbox as { command: string[] }).command[0] ?? '') : 'bwrap';
  if (!program.includes(sep) && findProgram(program, env) === null) {
    return [
      {
        code: 'sandbox.not_found',
        what: `Agents are to run in a sandbox, and ${program} was not found.`,
        why: 'No folder of PATH holds an executable of that name; without it no agent is started.',
        fix:
          shape === null
            ? 'Install it, or correct the first entry of sandbox.command in ralph.yml.'
            : 'Install it (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap), or set `sandbox: none`.',
      },
    ];
  }
  if (shape === null) return [];
  const lacking = shape.write.filter((path) => {
    const folder = atHome(path, env.HOME ?? '');
    return !isAbsolute(folder) || !existsSync(folder);
  });
  if (lacking.length > 0) {
    return [
      {
        code: 'sandbox.no_folder',
        what: `Agents are to write ${lacking.join(', ')}, and there is no such folder.`,
        why: 'Only what is there can be made writable in a sandbox, and only a whole path, or one with ~ in front, says where it is.',
        fix: 'Make the folder, or correct sandbox.bwrap.write in ralph.yml.',
      },
    ];
  }
  const command = [...base(shape), '--', 'true'];
  const result = await run({ command, cwd: '/', env, wallMs: TRY_MS, idleMs: null }).done;
  if (result.ending === 'exited' && result.exitCode === 0) return [];
  const said = result.stderrTail.trim().split('\n').at(-1) ?? '';
  return [
    {
      code: 'sandbox.unusable',
      what: 'Agents are to run in a sandbox, and bwrap cannot make one here.',
      why: `\`bwrap --ro-bind / / true\` fails${said === '' ? '' : `: ${said.slice(0, 300)}`}. ${nestedWords(env)}`,
      fix: 'Start Ralph outside of that, allow user namespaces, or, where something else shuts the agents in already, set `sandbox: none`.',
    },
  ];
}

function nestedWords(env: Record<string, string>): string {
  const inside =
    existsSync('/.dockerenv') || existsSync('/run/.containerenv') || (env.container ?? '') !== '';
  return inside
    ? 'Ralph itself runs in a container, which does not allow another sandbox in it.'
    : 'Ralph itself may run in a sandbox already, or this system does not allow user namespaces.';
}
