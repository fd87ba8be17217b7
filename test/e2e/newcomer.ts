/**
 * A newcomer's machine: a home with an agent that is described in the user's own configuration, a project
 * that Ralph has never seen, and the three commands of a first evening. Times and places are masked, so
 * that what is printed can stand in the documentation.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { removeFolder } from '../remove-folder.ts';
import { PROGRAM } from './project.ts';

/**
 * Stands in for a coding agent: it does what the doctor asks, and "works" by writing what the task names.
 * As any agent it gets the prompt on stdin and says at the end that it is done.
 */
const AGENT = `#!/bin/sh
prompt=$(cat)
if [ "$RALPH_MODE" = doctor ]; then
  # The commands stand below their names, four blanks in.
  printf '%s\\n' "$prompt" | awk '/^[0-9]+\\. /{name=$2; sub(/:$/,"",name)} /^    /{sub(/^    /,""); print name "\\t" $0}' |
  while IFS="$(printf '\\t')" read -r name line; do
    sh -c "$line" >/dev/null 2>&1 </dev/null
    echo "RALPH-GATE $name ran exit=$?"
  done
  exit 0
fi
sh "$HOME/work.sh"
echo '<promise>COMPLETE</promise>'
`;

export interface Newcomer {
  dir: string;
  home: string;
  git(...args: string[]): string;
  /** Answers what went to both streams, and the exit code. */
  ralph(args: string[], options?: { cwd?: string; env?: Record<string, string> }): Said;
  read(path: string): string;
  write(files: Record<string, string>): void;
  /** Masked: the same text on every machine and every day. */
  masked(text: string): string;
  remove(): void;
}

export interface Said {
  code: number | null;
  out: string;
  err: string;
}

export interface NewcomerOptions {
  files: Record<string, string>;
  /** What the stand-in does for a task, as shell; RALPH_TASK_ID names the task. */
  work?: string;
  /** False: no commit is made. */
  commit?: boolean;
  /** False: no agent is on this machine at all. */
  agent?: boolean;
}

/** Makes home and project. */
export function makeNewcomer({ files, work = '', commit = true, agent = true }: NewcomerOptions): Newcomer {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-newcomer-')));
  const dir = join(home, 'project');
  const at = (root: string) => (all: Record<string, string>) => {
    for (const [path, text] of Object.entries(all)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  };
  mkdirSync(dir);
  at(dir)(files);
  const helper = `agents:\n  helper: { command: ["${join(home, 'helper.sh')}"] }\n`;
  at(home)({ 'work.sh': work, 'helper.sh': AGENT });
  chmodSync(join(home, 'helper.sh'), 0o755);
  if (agent) at(home)({ '.config/ralph/ralph.yml': helper });
  const env = {
    PATH: withoutAgents(process.env.PATH ?? ''),
    HOME: home,
    LANG: 'C.UTF-8',
    GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
    GIT_CONFIG_NOSYSTEM: '1',
    NO_COLOR: '1',
    // A package manager that looks for its own new version prints about it.
    NO_UPDATE_NOTIFIER: '1',
    npm_config_update_notifier: 'false',
  };
  at(home)({
    '.gitconfig':
      '[user]\n\tname = Ada\n\temail = ada@example.invalid\n[init]\n\tdefaultBranch = main\n[core]\n\texcludesFile = /dev/null\n',
  });
  const git = (...args: string[]) => execFileSync('git', args, { cwd: dir, env, encoding: 'utf8' }).trim();
  git('init', '-q');
  if (commit) {
    git('add', '-A');
    git('commit', '-q', '-m', 'Start');
  }
  return {
    dir,
    home,
    git,
    ralph(args, options = {}) {
      const ran = spawnSync(process.execPath, [PROGRAM, ...args], {
        cwd: options.cwd ?? dir,
        env: { ...env, ...options.env },
        encoding: 'utf8',
        timeout: 100_000,
      });
      return { code: ran.status, out: ran.stdout, err: ran.stderr };
    },
    read: (path) => readFileSync(join(dir, path), 'utf8'),
    write: at(dir),
    masked: (text) => mask(text.replaceAll(dir, '/home/ada/project').replaceAll(home, '/home/ada')),
    remove: () => removeFolder(home),
  };
}

/** Whoever runs the tests may have agents installed; a newcomer's transcript must not depend on it. */
function withoutAgents(path: string): string {
  return path
    .split(delimiter)
    .filter((folder) => !existsSync(join(folder, 'claude')))
    .join(delimiter);
}

/** Times, versions, sizes, ids and hashes are other ones each time. */
function mask(text: string): string {
  return text
    .replace(/\b\d{2}:\d{2}:\d{2}\b/g, '22:15:00')
    .replace(/\bpid \d+/g, 'pid 4711')
    .replace(/\b\d{6}-\d{6}\b/g, '261128-221500')
    .replace(/\b(?:\d+h )?(?:\d+m )?\d+(?:\.\d+)?s\b/g, '2s')
    .replace(/ \(\d+\.\d s\)$/gm, '')
    .replace(/\bNode \d+\.\d+\.\d+/g, 'Node 20.19.0')
    .replace(/\bgit \d+(?:\.\d+)+/g, 'git 2.39.5')
    .replace(/\b\d+ GB free/g, '75 GB free')
    .replace(/\b[0-9a-f]{7,12}\b(?=[ :,.)]|$)/gm, 'c0ffee1')
    .replace(/[ \t]+$/gm, '');
}
