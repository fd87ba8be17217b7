/** `ralph hats`: the roles of the configuration, what wakes them, and whether they fit together. */
import type { Command } from 'commander';
import { nearest, Problem, type ProblemFacts, problemText } from '../core/index.ts';
import { answer, type Common, common, folderOf, refuseSurplus } from './io.ts';

export const HAT_ACTIONS = ['list', 'show', 'graph', 'validate'];

export function hatsCommand(program: Command, done: (code: number) => void): void {
  common(
    program
      .command('hats')
      .argument('[action]', 'list, show, graph or validate', 'list')
      .argument('[name]', 'show: the role')
      .description('the roles of ralph.yml: what wakes each, who plays it, whether they fit together'),
    'ralph hats validate',
  ).action(async (action: string, name: string | undefined, options: Common) => {
    done(await carryOut(action, name, options));
  });
}

async function carryOut(action: string, name: string | undefined, options: Common): Promise<number> {
  if (HAT_ACTIONS.includes(action)) refuseSurplus(`hats ${action}`, [name], action === 'show' ? 1 : 0);
  const app = await import('../app/index.ts');
  const request = { cwd: folderOf(options), env: process.env };
  switch (action) {
    case 'list':
      return tell(await app.listHats(request), options);
    case 'show':
      if (name === undefined) throw unnamed();
      return tell(await app.showHat(request, name), options);
    case 'graph':
      return tell(await app.graphHats(request), options);
    case 'validate': {
      const { data, text } = await app.validateHats(request);
      answer(options, data, text);
      return data.valid ? 0 : 5;
    }
    default:
      throw unknownAction(action);
  }
}

function tell(view: { data: unknown; text: string; notYet: ProblemFacts[] }, options: Common): number {
  answer(options, view.data, view.text);
  // Beside the answer, so that a program still reads one JSON value.
  for (const problem of view.notYet) process.stderr.write(`${problemText(problem)}\n`);
  return 0;
}

function unnamed(): Problem {
  return new Problem({
    code: 'usage.role',
    what: 'No role was named.',
    why: '`show` tells about one role.',
    fix: 'ralph hats show NAME; the names stand in `ralph hats`.',
  });
}

function unknownAction(action: string): Problem {
  const near = nearest(action, HAT_ACTIONS);
  return new Problem({
    code: 'usage.action',
    what: `There is no action "${action}" for hats.${near === null ? '' : ` Did you mean ${near}?`}`,
    why: `It can ${HAT_ACTIONS.join(', ')}.`,
    fix: 'See ralph hats --help.',
  });
}
