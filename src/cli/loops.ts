/** `ralph loops`: work trees of loops beside the main checkout, and what becomes of their work. */
import type { Command } from 'commander';
import { nearest, Problem } from '../core/index.ts';
import { answer, type Common, common, folderOf } from './io.ts';

export const LOOP_ACTIONS = ['list', 'discard', 'prune'];

export function loopsCommand(program: Command, done: (code: number) => void): void {
  common(
    program
      .command('loops')
      .argument('[action]', 'what to do: list, discard or prune', 'list')
      .argument('[loop]', 'discard: the loop')
      .description('loops in work trees of their own: how they stand, and what becomes of them'),
    'ralph loops',
  )
    .option('--yes', 'discard without asking again')
    .action(async (action: string, loop: string | undefined, options: LoopOptions) => {
      done(await carryOut(action, loop, options));
    });
}

interface LoopOptions extends Common {
  yes?: boolean;
}

async function carryOut(action: string, loop: string | undefined, options: LoopOptions): Promise<number> {
  const app = await import('../app/index.ts');
  switch (action) {
    case 'list': {
      const { data, text } = await app.listLoops(folderOf(options));
      answer(options, data, text);
      return 0;
    }
    case 'discard': {
      if (loop === undefined || options.yes !== true) throw unsaid(loop);
      const data = await app.discardLoop(folderOf(options), loop);
      const kept =
        data.kept_as === null ? 'it had no work of its own' : `all of it is kept as ${data.kept_as}`;
      answer(options, data, `Discarded loop ${data.loop_id}; ${kept}.`);
      return 0;
    }
    case 'prune': {
      const data = await app.pruneLoops(folderOf(options));
      const lines = [
        data.removed.length === 0 ? 'Nothing to take away.' : `Taken away: ${data.removed.join(', ')}`,
      ];
      for (const { loop, why } of data.kept) lines.push(`Left: ${loop}, ${why}`);
      answer(options, data, lines.join('\n'));
      return 0;
    }
    default:
      throw unknownAction(action);
  }
}

function unsaid(loop: string | undefined): Problem {
  return new Problem({
    code: 'usage.loop',
    what: loop === undefined ? 'No loop was named.' : `Loop ${loop} was not discarded.`,
    why: 'Its work tree and branch go; its work is kept under a name of ours (refs/ralph/discarded).',
    fix: `ralph loops discard ${loop ?? 'LOOP'} --yes`,
  });
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
