/** `ralph knowledge`: the notes of a session, and those that lie in `.docs/` already. */
import type { Command } from 'commander';
import { nearest, Problem } from '../core/index.ts';
import { answer, type Common, common, folderOf } from './io.ts';

interface KnowledgeOptions extends Common {
  session?: string;
}

export function knowledgeCommand(program: Command, done: (code: number) => void): void {
  common(
    program
      .command('knowledge')
      .argument('[action]', 'list, or show one', 'list')
      .argument('[name]', 'the note to show, a part of its path is enough')
      .description('notes that a session would leave behind, and those in .docs/'),
    'ralph knowledge show how-to/release',
  )
    .option('--session <id>', 'the session, or @loop; default: the open one')
    .action((action: string, name: string | undefined, options: KnowledgeOptions) =>
      look(action, name, options).then(() => done(0)),
    );
}

async function look(action: string, name: string | undefined, options: KnowledgeOptions): Promise<void> {
  refuseOthers(action, name);
  const [app, views] = await Promise.all([import('../app/index.ts'), import('../views/index.ts')]);
  const cwd = folderOf(options);
  if (action === 'show') {
    const note = await app.findNote(cwd, name ?? '', options.session);
    const { staged, ...rest } = note;
    const json = staged === undefined ? rest : { ...rest, staged: views.stagedJson(staged) };
    return answer(options, json, views.noteText(note));
  }
  const { state, knowledge } = await app.openKnowledge(cwd, options.session);
  answer(options, views.knowledgeJson(state, knowledge), views.knowledgeText(state, knowledge));
}

function refuseOthers(action: string, name: string | undefined): void {
  const known = ['list', 'show'];
  if (!known.includes(action)) {
    const near = nearest(action, known);
    throw new Problem({
      code: 'usage.action',
      what: `There is no action "${action}" for knowledge.${near === null ? '' : ` Did you mean ${near}?`}`,
      why: 'It can list, or show one note.',
      fix: `See ralph knowledge --help, or read a note of that name: ralph knowledge show ${action}`,
    });
  }
  if ((action === 'show') === (name !== undefined)) return;
  throw new Problem({
    code: 'usage.note',
    what: action === 'show' ? 'No note was named to show.' : `A list takes no name, and ${name} was given.`,
    why: 'One note at a time is shown; the list has them all.',
    fix:
      action === 'show'
        ? 'ralph knowledge show NAME; the names stand in `ralph knowledge`.'
        : 'ralph knowledge',
  });
}
