/** `ralph loops`: work trees of loops beside the main checkout, and what becomes of their work. */
import type { Command } from 'commander';
import { nearest, Problem } from '../core/index.ts';
import { tell } from './control.ts';
import { answer, type Common, common, DECLINED, folderOf, isAsked, refuseSurplus } from './io.ts';
import { logs } from './windows.ts';

export const LOOP_ACTIONS = ['list', 'logs', 'attach', 'stop', 'merge', 'discard', 'prune'];

export function loopsCommand(program: Command, done: (code: number) => void): void {
  common(
    program
      .command('loops')
      .argument('[action]', 'what to do: list, logs, attach, stop, merge, discard or prune', 'list')
      .argument('[loop]', 'the loop it is about, as `ralph loops` names it')
      .argument(
        '[more...]',
        'logs: the number of an iteration, default: the newest; stop: why, for the record',
      )
      .description('loops in work trees of their own: how they stand, and what becomes of them'),
    'ralph loops',
  )
    .option('-f, --follow', 'logs: go on as it grows, until the iteration ends')
    .option('--yes', 'discard without asking again')
    .action(async (action: string, loop: string | undefined, more: string[], options: LoopOptions) => {
      done(await carryOut({ action, loop, more }, options));
    });
}

interface LoopOptions extends Common {
  yes?: boolean;
  follow?: boolean;
}

interface Said {
  action: string;
  loop: string | undefined;
  more: string[];
}

/** Of what may follow an action: how many arguments; the last takes all there are. */
const TAKES: Record<string, number> = { list: 0, logs: 2, attach: 1, merge: 1, discard: 1, prune: 1 };

async function carryOut({ action, loop, more }: Said, options: LoopOptions): Promise<number> {
  const given = loop === undefined ? [] : [loop, ...more];
  refuseSurplus(`loops ${action}`, given, TAKES[action]);
  const [app, { goneWords }] = await Promise.all([import('../app/index.ts'), import('../views/index.ts')]);
  switch (action) {
    case 'list': {
      const { data, text, lost } = await app.listLoops(folderOf(options));
      lost.forEach(say);
      answer(options, data, text);
      return 0;
    }
    case 'merge':
      return merge(sessionOf(action, loop).slice(1), options);
    case 'logs':
      await logs(more[0], { ...options, session: sessionOf(action, loop) });
      return 0;
    case 'attach':
      await app.followRun({
        cwd: folderOf(options),
        session: sessionOf(action, loop),
        json: options.json === true,
      });
      return 0;
    case 'stop':
      await tell({ ...options, session: sessionOf(action, loop) }, { type: 'HALT', message: more.join(' ') });
      return 0;
    case 'discard': {
      if (loop !== undefined) await app.requireLoop(folderOf(options), loop, say);
      const consent = loop === undefined ? 'nobody' : await askConsent(loop, options);
      if (loop === undefined || consent === 'nobody') throw unsaid(loop);
      if (consent === 'no') {
        answer(options, null, `Loop ${loop} stays as it is.`);
        return DECLINED;
      }
      const data = await app.discardLoop(folderOf(options), loop, say);
      const kept =
        data.kept_as === null ? 'it had no work of its own' : `its work is kept as ${data.kept_as}`;
      const besides =
        data.kept_besides.length === 0
          ? ''
          : ` What was made there besides is kept as ${data.kept_besides.join(', ')}.`;
      const files =
        data.kept_files === null
          ? ''
          : ` What was changed in files that it was given lies in ${data.kept_files}.`;
      const gone = data.ignored_gone.length === 0 ? '' : ` Not kept: ${goneWords(data.ignored_gone)}.`;
      answer(options, data, `Discarded loop ${data.loop_id}; ${kept}.${besides}${files}${gone}`);
      return 0;
    }
    case 'prune': {
      const data = await app.pruneLoops(folderOf(options), loop, say);
      const lines = [
        data.removed.length === 0 ? 'Nothing to take away.' : `Taken away: ${data.removed.join(', ')}`,
      ];
      for (const { loop, files } of data.ignored_gone) lines.push(`Gone with ${loop}: ${goneWords(files)}`);
      for (const { loop, why } of data.kept) lines.push(`Left: ${loop}, ${why}`);
      answer(options, data, lines.join('\n'));
      return 0;
    }
    default:
      throw unknownAction(action);
  }
}

/** Ctrl-C ends the gates of the landing and an agent that was hired for it; the loop then waits in the queue, unless it had landed already. */
async function merge(name: string, options: LoopOptions): Promise<number> {
  const [app, { hearing }] = await Promise.all([import('../app/index.ts'), import('./signals.ts')]);
  const { value, heard } = await hearing((signal) =>
    app.mergeLoop({ cwd: folderOf(options), env: process.env, name, wait: true, say, signal }),
  );
  answer(options, value.data, value.text);
  if (heard === null || value.code === 0) return value.code;
  return heard === 'SIGINT' ? 130 : 143;
}

async function askConsent(loop: string, options: LoopOptions): Promise<'yes' | 'no' | 'nobody'> {
  if (options.yes === true) return 'yes';
  if (!isAsked(options)) return 'nobody';
  const { confirm, isCancel } = await import('@clack/prompts');
  const message = `Discard loop ${loop}? Its work tree and its branch go; its work is kept as refs/ralph/discarded/${loop}, but not what git ignores there.`;
  const said = await confirm({ message, initialValue: false });
  return said === true && !isCancel(said) ? 'yes' : 'no';
}

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** The session of a loop, as `--session` takes it. */
function sessionOf(action: string, loop: string | undefined): string {
  if (loop !== undefined && loop.replace(/^@/, '') !== '') return `@${loop.replace(/^@/, '')}`;
  throw new Problem({
    code: 'usage.loop',
    what: 'No loop was named.',
    why: `\`ralph loops ${action}\` is about one of them.`,
    fix: `ralph loops ${action} LOOP; the names stand in \`ralph loops\`.`,
  });
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
