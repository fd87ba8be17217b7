/** What a person says to the work itself, from any terminal: `tell`, `signal`, `approve`, `skip`. */
import type { Command } from 'commander';
import type { SendRequest } from '../app/index.ts';
import { MESSAGE_TYPES, type MessageType, nearest, Problem } from '../core/index.ts';
import { tell } from './control.ts';
import { type Common, common, wholeNumber } from './io.ts';

type Draft = SendRequest['draft'];
type Options = Common & { session?: string };

export function sayCommands(program: Command, done: (code: number) => void): void {
  const say = (options: Options, draft: Draft) => tell(options, draft).then(() => done(0));
  common(
    program
      .command('tell')
      .argument('<text...>', 'what the agents are to know or to do')
      .description('guide the work: your words stand in the next prompt'),
    'ralph tell "use the bar library, foo is deprecated"',
  )
    .option('--to <role>', 'the role it is for; default: every role, each once')
    .option('--note', 'a fact to know (INFO), not a change of direction (STEER)')
    .option('--urgent', 'marked as urgent for whoever reads it')
    .option('--session <id>', 'the session, or @loop; default: the open one')
    .action((words: string[], options: TellOptions) => say(options, guidance(words, options)));

  common(
    program
      .command('signal')
      .argument('<type>', `what is said: ${SIGNALS.join(', ')}`)
      .argument('[message...]', 'in your words; may be left out for what needs none')
      .description('drop a signal into the mailbox of a session, safely'),
    'ralph signal STEER "use the bar library" --target Executor',
  )
    .option('--target <role>', 'whom it is for: ALL, Orchestrator or a role; default: ALL')
    .option(
      '--iteration <cycle>',
      'only for this cycle of the session, stale in any other; default: for any',
      wholeNumber('--iteration', 1),
    )
    .option('--session <id>', 'the session, or @loop; default: the open one')
    .action((type: string, words: string[], options: SignalOptions) =>
      say(options, signal(type, words, options)),
    );

  common(
    program
      .command('approve')
      .argument('[files...]', 'approve these of the staged files only; default: all')
      .description('approve what waits for approval'),
    'ralph approve',
  )
    .option('--session <id>', 'the session, or @loop; default: the open one')
    .action((files: string[], options: Options) =>
      say(options, { type: 'APPROVE', ...(files.length === 0 ? {} : { files }) }),
    );

  common(
    program
      .command('skip')
      .argument('[text...]', 'why, for the record; may be left out')
      .description('let what waits for approval go by without it'),
    'ralph skip "not this time"',
  )
    .option('--session <id>', 'the session, or @loop; default: the open one')
    .action((words: string[], options: Options) => say(options, { type: 'SKIP', message: words.join(' ') }));
}

type TellOptions = Options & { to?: string; note?: boolean; urgent?: boolean };

function guidance(words: string[], { to, note, urgent }: TellOptions): Draft {
  const message = words.join(' ').trim();
  if (message === '') throw empty('ralph tell "use the bar library"');
  return {
    type: note ? 'INFO' : 'STEER',
    message,
    ...(to === undefined ? {} : { target: to }),
    ...(urgent ? { urgent: true } : {}),
  };
}

/** Those with a command of their own need more than words: which question, which task. */
const OWN_COMMAND: Partial<Record<MessageType, string>> = {
  ANSWER: 'ralph answer',
  TASK: 'ralph tasks done ID`, `ralph tasks cancel ID` or `ralph tasks reopen ID',
  UNBLOCK: 'ralph unblock ID',
};
/** What `ralph signal` sends. */
export const SIGNALS: readonly MessageType[] = MESSAGE_TYPES.filter(
  (type) => OWN_COMMAND[type] === undefined && type !== 'FEEDBACK',
);

type SignalOptions = Options & { target?: string; iteration?: string };

function signal(raw: string, words: string[], { target, iteration }: SignalOptions): Draft {
  const type = typeOf(raw);
  const message = words.join(' ').trim();
  if (message === '' && (type === 'STEER' || type === 'INFO')) {
    throw empty(`ralph signal ${type} "use the bar library"`);
  }
  return {
    type,
    message,
    ...(target === undefined ? {} : { target }),
    ...(iteration === undefined ? {} : { iteration: Number(iteration) }),
  };
}

function typeOf(raw: string): MessageType {
  const word = raw.toUpperCase();
  // The older word for it.
  if (word === 'STOP') return 'ABORT';
  const known = SIGNALS.find((type) => type === word);
  if (known !== undefined) return known;
  const own = OWN_COMMAND[word as MessageType];
  const near = nearest(word, SIGNALS);
  throw new Problem({
    code: 'usage.signal',
    what: `${raw} cannot be sent as a signal.${own === undefined && near !== null ? ` Did you mean ${near}?` : ''}`,
    why: own === undefined ? `Signals are ${SIGNALS.join(', ')}.` : `${word} has a command of its own.`,
    fix: own === undefined ? 'Name one of them.' : `Use \`${own}\`.`,
  });
}

function empty(example: string): Problem {
  return new Problem({
    code: 'usage.empty',
    what: 'There is nothing to say: the text is empty.',
    why: 'Guidance is words for the next prompt.',
    fix: `Say it in quotes, as in ${example}.`,
  });
}
