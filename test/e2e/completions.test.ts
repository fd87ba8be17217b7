import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROGRAM } from './project.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/**
 * The completion scripts in the real shells: a project, and a `ralph` on the PATH as an installed one.
 */
const room = mkdtempSync(join(tmpdir(), 'ralph-tab-'));
const project = join(room, 'project');
const env = {
  PATH: `${join(room, 'bin')}:${process.env.PATH ?? ''}`,
  HOME: room,
  LANG: 'C.UTF-8',
  TERM: 'dumb',
};

beforeAll(() => {
  mkdirSync(join(room, 'bin'), { recursive: true });
  mkdirSync(join(project, 'a folder'), { recursive: true });
  writeFileSync(join(room, 'bin', 'ralph'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(join(room, 'bin', 'ralph'), 0o755);
  execFileSync('git', ['init', '-q'], { cwd: project });
  writeFileSync(join(project, 'a file.md'), '');
  writeFileSync(join(project, 'prd.json'), JSON.stringify({ userStories: [story('US:1'), story('US:2')] }));
  writeFileSync(join(project, 'ralph.yml'), 'agents:\n  mine: { command: ["sh", "a.sh"] }\n');
});
afterAll(() => rmSync(room, { recursive: true, force: true }));

function story(id: string): Record<string, unknown> {
  return { id, title: 'A `$(touch bad)` title', acceptanceCriteria: ['x'], priority: 1, passes: false };
}

/** Whether a shell is on this machine; the suites of zsh and fish need not have theirs. */
const has = (shell: string) => spawnSync(shell, ['--version']).status === 0;

/** How each shell is asked for the candidates of a line with the cursor at its end. */
const ASK: Record<(typeof SHELLS)[number], (line: string) => string[]> = {
  bash: (line) => run('bash', ['--norc', '--noprofile', '-c', BASH_ASK, 'bash', line]),
  zsh: (line) => run('zsh', ['-f', '-c', ZSH_ASK, 'zsh', line]),
  fish: (line) =>
    run('fish', ['--no-config', '-c', 'ralph completions fish | source; complete -C $argv[1]', line]),
};

/** Splits the line as readline does, at blanks and at = and :, and prints what the function answers. */
const BASH_ASK = `
source <(ralph completions bash)
COMP_LINE=$1 COMP_POINT=\${#1} COMP_WORDS=()
rest=$1
while [[ -n $rest ]]; do
  if [[ $rest =~ ^[[:space:]]+ ]]; then rest=\${rest:\${#BASH_REMATCH[0]}}; [[ -z $rest ]] && COMP_WORDS+=(''); continue; fi
  [[ $rest =~ ^([=:]+|([^[:space:]=:\\\\]|\\\\.)+) ]]
  COMP_WORDS+=("\${BASH_REMATCH[0]}"); rest=\${rest:\${#BASH_REMATCH[0]}}
done
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_ralph ralph
printf '%s\\n' "\${COMPREPLY[@]}"
`;

/** zsh completes only at a terminal of its own: it gets one, and its lists are read as they are added. */
const ZSH_ASK = `
zmodload zsh/zpty
zpty asked zsh -f -i
line=$1
zpty -w asked "PS1= PROMPT_EOL_MARK= ; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; source <(ralph completions zsh)"
zpty -w asked 'compadd() { local -a all; builtin compadd -O all "$@"; printf "<%s>" "\${all[@]}"; builtin compadd "$@" }'
zpty -w asked 'done-word() { printf "<<end>>"; }; zle -N done-word; bindkey "^X" done-word; printf "<<%s>>" ready'
zpty -r -m asked seen '*<<ready>>*'
zpty -w -n asked "$line"$'\\t\\x18'
zpty -r -m asked seen '*<<end>>*'
print -r -- "$seen" | grep -ao '<[^<>]*>' | tr -d '<>' | grep -v '^end$' | sort -u
zpty -d asked
`;

function run(shell: string, args: string[]): string[] {
  const { stdout, stderr } = spawnSync(shell, args, { cwd: project, env, encoding: 'utf8', timeout: 60_000 });
  expect(stderr).toBe('');
  return stdout
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '')
    .filter((line) => line !== '');
}

const LOAD_TWICE = 'if [ -n "$ZSH_VERSION" ]; then compdef() { :; }; fi; eval "$1"; eval "$1"';

describe.each(SHELLS)('the script of %s, in the real shell', (shell) => {
  // A machine without zsh or fish cannot try their scripts; bash is everywhere that .ci/run is.
  const real = test.skipIf(shell !== 'bash' && !has(shell));
  const ask = ASK[shell];

  real(
    'completes commands, flags and values',
    () => {
      expect(ask('ralph inte')).toEqual(['interventions']);
      expect(ask('ralph run --max-i')).toEqual(['--max-iterations']);
      expect(ask('ralph run --mode b')).toEqual(['balanced']);
      expect(ask('ralph run --agent m')).toEqual(['mine']);
    },
    180_000,
  );

  real(
    'completes behind an equals sign, and ids with colons',
    () => {
      expect(ask('ralph run --mode=ba')).toEqual([shell === 'bash' ? 'balanced' : '--mode=balanced']);
      expect(ask('ralph tasks cancel US:')).toHaveLength(2);
      expect(ask('ralph why US:')).toHaveLength(2);
      expect(ask('ralph tasks cancel US:2')).toEqual([shell === 'bash' ? '2' : 'US:2']);
    },
    180_000,
  );

  real(
    'offers files and folders where they are wanted',
    () => {
      expect(ask('ralph run --prompt-file a').join(' ')).toContain('a file.md');
      const folders = ask('ralph run -C a').join(' ');
      expect(folders).toContain('a folder');
      expect(folders).not.toContain('file.md');
    },
    180_000,
  );

  real(
    'runs nothing that stands on the line or in a title',
    () => {
      ask('ralph run "$(touch bad)" --mode b');
      ask('ralph tasks cancel ');
      const { stdout } = spawnSync('ls', { cwd: project, encoding: 'utf8' });
      expect(stdout).not.toContain('bad');
    },
    180_000,
  );

  real('can be loaded twice', () => {
    const twice = shell === 'fish' ? 'echo "$argv[1]" | source; echo "$argv[1]" | source' : LOAD_TWICE;
    const script = spawnSync(process.execPath, [PROGRAM, 'completions', shell], { encoding: 'utf8' }).stdout;
    expect(script).toContain('ralph __complete');
    const args =
      shell === 'bash'
        ? ['-c', twice, 'bash', script]
        : ['-c', twice, ...(shell === 'zsh' ? ['zsh'] : []), script];
    const { status, stderr } = spawnSync(shell, args, { env, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });
});
