/**
 * `ralph completions SHELL` prints a small script for bash, zsh or fish. The script holds no command of
 * ours: at every TAB it asks `ralph __complete`, so it never grows old with a new version.
 */
import type { Command } from 'commander';
import { nearest, Problem } from '../core/index.ts';
import { answer, type Common, common } from './io.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export function completionCommands(program: Command, done: (code: number) => void): void {
  const command = program
    .command('completions')
    .description('print a script that completes commands, flags and names in your shell')
    .argument('[shell]', 'bash, zsh or fish; default: your login shell');
  common(command, 'source <(ralph completions bash)').action(
    async (word: string | undefined, options: Common) => {
      const shell = shellOf(word, process.env.SHELL);
      const { INSTALL, SCRIPTS } = await import('./shell-scripts.ts');
      answer(options, { shell, script: SCRIPTS[shell], install: INSTALL[shell] }, SCRIPTS[shell]);
      done(0);
    },
  );
}

function shellOf(word: string | undefined, login: string | undefined): Shell {
  const wanted = word ?? login?.split('/').at(-1) ?? '';
  const shell = SHELLS.find((known) => known === wanted);
  if (shell !== undefined) return shell;
  const near = nearest(wanted, SHELLS);
  throw new Problem({
    code: 'usage.shell',
    what:
      word === undefined
        ? `No shell was named${wanted === '' ? '' : `, and your login shell is ${wanted}`}.`
        : `There are no completions for "${word}".${near === null ? '' : ` Did you mean ${near}?`}`,
    why: `Scripts exist for ${SHELLS.join(', ')}.`,
    fix: 'Name one of them, e.g. ralph completions bash.',
  });
}
