/** Windows: commands that only look. Each follows the journal and says it as text or as JSON. */
import type { Command } from 'commander';
import { answer, answerEach, type Common, common, folderOf, wholeNumber } from './io.ts';
import { knowledgeCommand } from './knowledge.ts';

interface WindowOptions extends Common {
  session?: string;
  last?: string;
  type?: string;
  reset?: boolean;
  agent?: string;
  topic?: string;
  follow?: boolean;
  label?: string;
  includeLogs?: boolean;
}

type Look = (subject: string | undefined, options: WindowOptions) => Promise<void>;

export function windowCommands(program: Command, done: (code: number) => void): void {
  const window = (usage: string, about: string, example: string, look: Look) =>
    common(withSubject(program.command(usage)).description(about), example)
      .option('--session <id>', 'the session, or @loop; default: the open one')
      .action((...args: unknown[]) => {
        const options = args.at(-2) as WindowOptions;
        const subject = typeof args[0] === 'string' ? args[0] : undefined;
        return look(subject, options).then(() => done(0));
      });
  window(
    'status [session]',
    'where the session stands, and whether it needs you',
    'ralph status --json',
    status,
  );
  window('sessions', 'every session of this project', 'ralph sessions', sessions);
  window('inbox', 'open questions and how to answer them', 'ralph inbox', inbox);
  knowledgeCommand(program, done);
  window('why [subject]', 'explain a task, an iteration, or why the session stopped', 'ralph why t3', why);
  window('events', 'published topics', 'ralph events --last 10 --topic "build.*"', events)
    .option('--last <n>', 'only the last n; default: all', wholeNumber('--last', 1))
    .option('--topic <pattern>', 'only these topics, * is one segment; default: all');
  window(
    'interventions',
    'what was held against attempts, and the corrections',
    'ralph interventions --last 20',
    interventions,
  )
    .option('--last <n>', 'only the last n; default: all', wholeNumber('--last', 1))
    .option('--type <type>', 'only this type of event; default: all')
    .option('--reset', 'begin anew: earlier events and profiles are no longer shown');
  window(
    'profile',
    'how each agent behaves over time, and whether corrections help',
    'ralph profile --agent claude',
    profile,
  ).option('--agent <agent>', 'only this agent; default: all');
  window('logs [iteration]', 'the transcript of an iteration', 'ralph logs 3 -f', logs).option(
    '-f, --follow',
    'go on as it grows, until the iteration ends',
  );
  common(
    program.command('archive').description('move finished sessions to .ralph/archive'),
    'ralph archive --label sprint-12',
  )
    .option('--label <label>', 'names the archive folder; default: sessions')
    .option('--include-logs', 'move the logs along; else they stay with the session folder')
    .action(async (options: WindowOptions) => {
      const { archive } = await import('../app/index.ts');
      const moved = await archive({
        cwd: folderOf(options),
        label: options.label ?? 'sessions',
        includeLogs: options.includeLogs === true,
      });
      answer(options, moved, moved.text);
      done(0);
    });
  common(
    program.command('demo').description('play the main job on a small example, with a scripted agent'),
    'ralph demo',
  ).action(async (options: Common) => {
    const { demo } = await import('../app/index.ts');
    done(await demo({ json: options.json === true }));
  });
}

/** What a window may be asked about. */
const SUBJECTS: Record<string, string> = {
  session: 'the session; default: the open one, else the newest',
  subject: 'a task, an iteration or a session, a part of the name is enough; default: the session',
  iteration: 'the number of an iteration; default: the newest',
};

function withSubject(command: Command): Command {
  for (const argument of command.registeredArguments)
    argument.description = SUBJECTS[argument.name()] ?? argument.description;
  return command;
}

const load = () => Promise.all([import('../app/index.ts'), import('../views/index.ts')] as const);

const status: Look = async (id, options) => {
  const [app, views] = await load();
  const now = Date.now();
  const named = id ?? options.session;
  const { session, state, live, messages } = await app.openState(folderOf(options), named);
  tellBeside(session.note);
  const text = views.statusText(state, now, live).trimEnd();
  const told = views.tellSenders(state, messages);
  const rest = told.length === 0 ? '' : `\n${views.messagesText(told)}`;
  const alone = options.json === true || named !== undefined;
  const beside = alone ? [] : (await app.questionsBeside(folderOf(options), session.id)).others;
  const half = await app.brokenLandings(folderOf(options));
  const json = {
    ...views.statusJson(state, now, live),
    messages: views.messagesJson(state, messages),
    ...(half.length === 0 ? {} : { half_entered: half }),
  };
  const broken = half.map((one) => `Landing:   ${views.halfWords(one.loop, one)}; ${one.next} completes it`);
  const loops = alone ? [] : await loopsLines(options);
  answer(options, json, [text + rest, ...views.besideLines(beside), ...loops, ...broken].join('\n'));
};

const sessions: Look = async (_, options) => {
  const [app, views] = await load();
  const all = await app.allSessions(folderOf(options));
  const rows = all.map(({ state, live }) => views.sessionJson(state, live));
  const loops = options.json === true ? [] : await loopsLines(options);
  answer(options, rows, [views.sessionsText(rows).trimEnd(), ...loops].join('\n'));
};

/** One line that names the loops, where there are some. */
async function loopsLines(options: WindowOptions): Promise<string[]> {
  const [app, views] = await load();
  const line = views.loopsLine(await app.loopsHere(folderOf(options)));
  return line === null ? [] : [line];
}

const inbox: Look = async (_, options) => {
  const [app, views] = await load();
  const cwd = folderOf(options);
  const { session, state } = await app.openState(cwd, options.session);
  tellBeside(session.note);
  const staged = state.cycleWork.approval === null ? [] : await app.askedNotes(cwd, session.dir, state);
  const ofLoop = (loop: string, session_id: string) => ({ loop, session_id });
  const own = views.inboxJson(state, staged);
  const text = views.inboxText(state, Date.now(), staged);
  if (options.session !== undefined)
    return answer(
      options,
      own.map((question) => ({ ...question, session_id: session.id })),
      text,
    );
  const beside = await app.questionsBeside(cwd, session.id);
  const rows = [
    ...own.map((question) => ({ ...question, ...ofLoop(beside.own, session.id) })),
    ...beside.others.flatMap(({ name, sessionId, state: other }) =>
      views.inboxJson(other).map((question) => ({ ...question, ...ofLoop(name, sessionId) })),
    ),
  ];
  const others = views.besideText(beside.others, Date.now());
  const shown = own.length === 0 && others !== '' ? [] : [text];
  answer(options, rows, [...shown, ...(others === '' ? [] : [others])].join('\n\n'));
};

const why: Look = async (subject, options) => {
  const [app, views] = await load();
  const { session, story, live } = await app.openWindow(folderOf(options), options.session);
  tellBeside(session.note);
  const view = { now: Date.now(), live };
  answer(options, views.whyJson(story, subject, view), views.whyText(story, subject, view));
};

function lastOf(options: WindowOptions): { last?: number } {
  return options.last === undefined ? {} : { last: Number(options.last) };
}

const events: Look = async (_, options) => {
  const [app, views] = await load();
  const { session, story } = await app.openWindow(folderOf(options), options.session);
  tellBeside(session.note);
  const query = { ...lastOf(options), ...(options.topic === undefined ? {} : { topic: options.topic }) };
  answer(options, views.topicsJson(story, query), views.topicsText(story, query));
};

const interventions: Look = async (_, options) => {
  const [app, views] = await load();
  const cwd = folderOf(options);
  if (options.reset === true) {
    const { hidden, told } = await app.resetInterventions(cwd);
    for (const line of told) process.stderr.write(`${line}\n`);
    const text = `${views.count(hidden, 'event')} no longer shown; profiles begin anew. What open tasks are told in their prompts stays.`;
    return answer(options, { reset: true, hidden }, text);
  }
  const { events, setAside, sequel } = await app.interventionEvents(cwd, options.session);
  const { type } = options;
  if (type !== undefined) await knownType(type, views.interventionTypes());
  const query = { ...lastOf(options), ...(type === undefined ? {} : { type }) };
  if (options.json) answerEach(views.interventionsOf(events, query));
  else {
    const all = [...events];
    const wanted = views.interventionsJson(all, query);
    const types = [...new Set(all.map((event) => event.event_type))];
    const none =
      type === undefined || wanted.length > 0 || types.length === 0
        ? ''
        : ` There are events of these types: ${types.sort().join(', ')}.`;
    const counts = wanted.length > 20 ? `\n${views.interventionCounts(wanted)}` : '';
    answer(options, wanted, views.interventionsText(wanted, sequel) + none + counts);
  }
  tellBeside(setAside());
};

async function knownType(type: string, known: readonly string[]): Promise<void> {
  if (known.includes(type)) return;
  const { nearest, Problem } = await import('../core/index.ts');
  const near = nearest(type, known);
  throw new Problem({
    code: 'usage.value',
    what: `There is no type of event named "${type}".`,
    why: `The types are: ${known.join(', ')}.`,
    fix: near === null ? 'Name one of them, or leave --type away.' : `ralph interventions --type ${near}`,
  });
}

const profile: Look = async (_, options) => {
  const [app, views] = await load();
  const { profiles, lost } = await app.agentProfiles(folderOf(options));
  const { agent } = options;
  const wanted = agent === undefined ? profiles : profiles.filter((each) => each.agent_id === agent);
  if (agent !== undefined && wanted.length === 0 && profiles.length > 0)
    throw await unknownAgent(
      agent,
      profiles.map((each) => each.agent_id),
    );
  tellBeside(lost);
  answer(options, wanted, views.profilesText(wanted));
};

async function unknownAgent(name: string, known: string[]): Promise<Error> {
  const { nearest, Problem } = await import('../core/index.ts');
  const near = nearest(name, known);
  return new Problem({
    code: 'cli.no_profile',
    what: `No attempt of an agent called ${name} was judged in this project.`,
    why: `There are profiles of ${known.join(', ')}.`,
    fix: near === null ? 'Name one of them, or leave --agent out.' : `Did you mean ${near}?`,
  });
}

/** Beside the answer, so that a program still reads one JSON value. */
function tellBeside(words: string | null | undefined): void {
  if (words != null) process.stderr.write(`${words}\n`);
}

export const logs: Look = async (iteration, options) => {
  const { showLog } = await import('../app/index.ts');
  await showLog({
    cwd: folderOf(options),
    iteration: iteration ?? null,
    follow: options.follow === true,
    json: options.json === true,
    ...(options.session === undefined ? {} : { session: options.session }),
  });
};
