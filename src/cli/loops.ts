/** `ralph loops`: work trees of loops beside the main checkout, and what becomes of their work. */
import type { Command } from 'commander';
import { nearest, Problem } from '../core/index.ts';
import { answer, type Common, common, folderOf } from './io.ts';

export const LOOP_ACTIONS = ['list'];

export function loopsCommand(program: Command, done: (code: number) => void): void {
  common(
    program
      .command('loops')
      .argument('[action]', 'what to do: list', 'list')
      .argument('[loop]', 'the loop it is about')
      .description('loops in work trees of their own: how they stand'),
    'ralph loops',
  ).action(async (action: string, _loop: string | undefined, options: Common) => {
    done(await carryOut(action, options));
  });
}

async function carryOut(action: string, options: Common): Promise<number> {
  const app = await import('../app/index.ts');
  switch (action) {
    case 'list': {
      const { data, text } = await app.listLoops(folderOf(options));
      answer(options, data, text);
      return 0;
    }
    default:
      throw unknownAction(action);
  }
}

function unknownAction(action: string): Problem {
  const near = nearest(action, LOOP_ACTIONS);
  return new Problem({
    code: 'usage.action',
    what: `There is no action "${action}" for loops.${near === null ? '' : ` Did you mean ${near}?`}`,
    why: `It can ${LOOP_ACTIONS.join(', ')}.`,
    fix: 'See ralph loops --help.',
  });
}
