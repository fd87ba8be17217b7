/**
 * The pages of the manual, one for each command, by its words. A test holds that no command is without
 * one, that every example is understood by the program, and that every page sends on to what exists.
 */
import { EXITS } from '../core/index.ts';

/** A command line, and what it does. */
export type Example = [line: string, does: string];

export interface Page {
  group: 'Work' | 'Look' | 'Say something' | 'Set up';
  /** What it is for, in full sentences; stands above the options. */
  text: string;
  /** Beside the one that the command itself names; `does` explains that one. */
  does: string;
  examples?: Example[];
  /** What its exit codes mean; the usual ones where it is left out. */
  exits?: Record<number, string>;
  /** Commands, and pages of the documentation. */
  see: string[];
}

const RUN_EXITS = Object.fromEntries(
  Object.entries(EXITS).map(([code, { word, meaning }]) => [code, `${word}: ${meaning}`]),
);

/** By the command's words. */
export const PAGES: Record<string, Page> = {
  run: {
    group: 'Work',
    text: `Works off the task list, one fresh agent run after another, until every task is done and committed. A task is done when the agent's claim, a change of its own and every required gate agree. Where a session of this work tree is open, it is continued; nothing is lost by running again.`,
    does: 'take this list, hold every task against these tests, and stop at five dollars',
    examples: [
      ['ralph run', 'go on with the open session, or start with the list that lies in the usual place'],
      ['ralph run "add a greet function with a test"', 'no list: one objective'],
      ['ralph run --dry-run', 'check everything and say what would be done'],
      ['ralph run -n 30 --max-time 8h --no-wait', 'a night without anybody'],
      [
        'ralph run "rework the parser" --worktree parser',
        'beside your checkout: a work tree and a branch of its own, which lands when all is done',
      ],
      ['ralph run --task fix-login --json', 'one task; facts as NDJSON, the last line is the result'],
    ],
    exits: RUN_EXITS,
    see: ['resume', 'loops', 'status', 'why', 'tasks', 'docs/guides/when-it-stops.md'],
  },
  loops: {
    group: 'Work',
    text: 'Loops side by side: each works in a git work tree and on a branch of its own (`ralph run --worktree NAME`), so that your checkout stays yours meanwhile. `list` shows how each stands and what to do next; `logs`, `attach` and `stop` are `ralph logs`, a transcript that goes on from iteration to iteration (Ctrl-C leaves it, the loop works on), and `ralph stop`, for the loop you name.',
    does: 'every loop, who works in it, and what to do next',
    examples: [
      ['ralph loops --json', 'the same as data'],
      ['ralph loops attach parser', 'see what it does, until its run ends'],
      ['ralph loops stop parser', 'its live agents finish and are judged, then it stops'],
      ['ralph loops discard parser --yes', 'give it up; its work is kept under refs/ralph/discarded'],
      ['ralph loops prune', 'take away what has landed'],
      ['ralph loops prune parser', 'this one only'],
    ],
    exits: {
      0: 'it was done; merge: the loop landed',
      5: 'no such loop, usage or configuration, or a loop that must first be set right: told in three lines, nothing was changed',
      7: 'you said no to discard',
      8: 'merge: it did not land; what is in the way and what to do is told',
      130: 'Ctrl-C ended a merge; the loop waits in the queue',
      143: 'a signal ended a merge; the loop waits in the queue',
    },
    see: ['run', 'sessions', 'status'],
  },
  resume: {
    group: 'Work',
    text: 'Goes on with a session: after a pause it tells the live runner to go on, else it runs the loop here, with the flags of the run it continues. Flags that you give now win.',
    does: 'go on with the open session',
    examples: [
      ['ralph resume 260208-143000', 'go on with this session'],
      ['ralph resume --max-cost 20', 'go on, with more money than before'],
    ],
    exits: RUN_EXITS,
    see: ['run', 'pause', 'sessions', 'docs/guides/when-it-stops.md'],
  },
  tasks: {
    group: 'Work',
    text: 'The task list as the loop sees it: ids, states, attempts, and what holds a task up. `done` calls a task done that you have checked yourself, `cancel` takes it out of the work, `reopen` puts it back to todo; all are sent to a live runner, or read at the next start. Without a session it shows the list that `ralph run` would use.',
    does: 'put t3 back to todo',
    examples: [
      ['ralph tasks', 'the list, with ids'],
      ['ralph tasks cancel t4 --reason "no longer wanted"', 'leave a task out, with the reason on record'],
      ['ralph tasks --json', 'the list as data'],
    ],
    see: ['unblock', 'why', 'docs/guides/bring-your-task-list.md'],
  },
  status: {
    group: 'Look',
    text: 'Says in a few lines where the session stands: phase, tasks, spending, what runs now and for how long it may, and whether a person is waited for. Works beside a live run and after it.',
    does: 'the same as data',
    examples: [['ralph status', 'the open session, or the newest']],
    see: ['why', 'inbox', 'sessions', 'tasks'],
  },
  sessions: {
    group: 'Look',
    text: 'Every session of this project, newest first, one line each: whether it runs, its tasks, its spending, and how it ended.',
    does: 'the list',
    examples: [['ralph sessions --json', 'the list as data']],
    see: ['status', 'resume', 'archive'],
  },
  inbox: {
    group: 'Look',
    text: 'The open questions: what was asked, by whom, what it holds up, what happens without an answer, and the command that answers it.',
    does: 'what waits for you',
    examples: [['ralph inbox --json', 'the questions as data']],
    see: ['answer', 'status', 'docs/guides/when-it-stops.md'],
  },
  knowledge: {
    group: 'Look',
    text: 'The notes that a session would leave behind for later ones, with what became of them: waiting for your yes, approved, put into `.docs/`, left in the session, or carried to the next cycle; and whether other words stand where they would go. Then the notes that sessions left in `.docs/`. `show` prints one, with what differs.',
    does: 'read one, also by a part of its name',
    examples: [['ralph knowledge', 'what is staged, and what lies in .docs/']],
    see: ['approve', 'skip', 'inbox', 'docs/guides/five-roles.md'],
  },
  why: {
    group: 'Look',
    text: 'Explains from the journal. A task or an iteration: what was claimed, what was true, what the gates said, the verdict, and why the attempt got the time it got. Without a subject: why the session stopped, and what to do next. A part of a name is enough.',
    does: 'the story of task t3',
    examples: [
      ['ralph why', 'why it stopped, or what it is doing'],
      ['ralph why 7', 'the story of iteration 7'],
    ],
    see: ['logs', 'interventions', 'docs/guides/when-it-stops.md'],
  },
  events: {
    group: 'Look',
    text: 'The topics that agents published with `ralph emit`, oldest first, with who published them in which iteration.',
    does: 'the last ten below build',
    examples: [['ralph events --json', 'all of them as data']],
    see: ['interventions', 'docs/reference/agent-contract.md'],
  },
  interventions: {
    group: 'Look',
    text: 'What was held against attempts (no files, a false completion, a forbidden edit …) and which of it was corrected, over all sessions of the project; with --session that session alone. `--reset` puts a line under it: earlier events are no longer shown, and profiles begin anew. Nothing is deleted from the sessions.',
    does: 'the last twenty',
    examples: [
      ['ralph interventions --type no_files_detected', 'attempts that changed nothing'],
      ['ralph interventions --reset', 'after the prompt or the agent was changed'],
    ],
    see: ['profile', 'why', 'events'],
  },
  profile: {
    group: 'Look',
    text: 'How each agent behaves over all sessions of the project: iterations, accepted, without files, false completions, timed out, files and evidence on average; by class of task; the last twenty iterations against those before; and how many corrected findings did not come back in the next attempt.',
    does: 'the profile of one agent',
    examples: [['ralph profile --json', 'all agents as data']],
    see: ['interventions', 'agents'],
  },
  logs: {
    group: 'Look',
    text: 'The transcript of one iteration, as its agent wrote it. Without a number: the newest. It stays readable after the run, in `ralph/logs` and in the archive.',
    does: 'iteration 3, and on as it grows',
    examples: [['ralph logs', 'the newest iteration']],
    see: ['why', 'status'],
  },
  pause: {
    group: 'Say something',
    text: 'Nothing new is started, and what runs is ended without being charged for it. The session waits; its unfinished work stays in the work tree.',
    does: 'pause, with a word for whoever looks at the status',
    examples: [['ralph pause --session 260208-143000', 'another session than the open one']],
    see: ['resume', 'stop', 'abort'],
  },
  stop: {
    group: 'Say something',
    text: 'The live agents finish, are judged and landed; then the run ends with exit code 7. `ralph run` goes on from there.',
    does: 'stop after what runs now',
    examples: [['ralph stop "enough for tonight"', 'with the reason on record']],
    see: ['pause', 'abort', 'resume'],
  },
  abort: {
    group: 'Say something',
    text: 'Ends the live agents and the session for good, with exit code 9. Nothing is reverted: commits stay, and unfinished work stays in the work tree. `ralph run --reopen` takes it up again after all.',
    does: 'end it, with the reason on record',
    examples: [['ralph abort --json', 'say what became of the message as data']],
    see: ['stop', 'pause', 'run'],
  },
  answer: {
    group: 'Say something',
    text: 'Answers an open question in your words, or by one of its options. A live run takes it up within a second; a stopped one at its next start. Writing under the line in `ralph/decide.txt` does the same.',
    does: 'answer q1 in words',
    examples: [
      ['ralph answer q1 --option B', 'choose option B'],
      ['ralph answer "keep the old format"', 'the name may be left out while only one question is open'],
    ],
    see: ['inbox', 'unblock', 'docs/guides/when-it-stops.md'],
  },
  tell: {
    group: 'Say something',
    text: 'Guides the work. Your words stand ahead of the work in the next prompt of each role, once; while they wait for that, a task they may concern is not accepted as done. With `--note` they are a fact to know, which changes no course. Words to a paused session also let it go on, a note does not. `ralph status` shows what became of them.',
    does: 'change the course',
    examples: [
      ['ralph tell --note "the team prefers tabs"', 'a fact to know'],
      ['ralph tell --to reviewer "look at the error paths first"', 'for one role only'],
    ],
    see: ['signal', 'pause', 'answer', 'docs/guides/steering.md'],
  },
  signal: {
    group: 'Say something',
    text: 'Writes a signal file under `signals/inputs/` of the session, whole and under a name of its own, as any program may do by itself. STEER and INFO are guidance, PAUSE, RESUME, HALT and ABORT are control (STOP is read as ABORT), APPROVE and SKIP are for what waits for approval. A handled file lies in `signals/processed/` with what was done, a refused one in `signals/rejected/` with the reason.',
    does: 'guidance for one role',
    examples: [
      ['ralph signal PAUSE "meeting until two"', 'the same as ralph pause'],
      ['ralph signal INFO "the target is Azure" --iteration 2', 'for the second cycle only'],
    ],
    see: ['tell', 'pause', 'abort', 'docs/guides/steering.md'],
  },
  approve: {
    group: 'Say something',
    text: 'Approves what an open question wants approved, as a whole or by the files named. Without such a question it lies in the mailbox until one is asked.',
    does: 'approve all of it',
    examples: [['ralph approve .docs/api.md', 'this file only']],
    see: ['skip', 'inbox', 'knowledge'],
  },
  feedback: {
    group: 'Say something',
    text: 'Says what is wrong with what a session made, or what you want besides. The words of the first file become `feedbacks.md` of the next cycle, other files are copied beside it and listed. It opens the next cycle at the next `ralph run`; while a cycle is on it waits for the end of it. Without anything an empty form is put there, which says nothing until you have filled it in.',
    does: 'the words of a file, with a picture beside them',
    examples: [
      ['ralph feedback -m "read from stdin as well"', 'one thing that you want'],
      ['ralph feedback', 'put the form there, and say where'],
    ],
    see: ['run', 'tell', 'docs/guides/five-roles.md'],
  },
  skip: {
    group: 'Say something',
    text: 'Lets what an open question wants approved go by: nothing of it is taken over, and the work goes on.',
    does: 'go on without it, with the reason on record',
    examples: [['ralph skip --json', 'say what became of it as data']],
    see: ['approve', 'inbox'],
  },
  blocked: {
    group: 'Look',
    text: 'Lists the tasks that go nowhere until somebody acts: a question about them is open, their attempts are used up, or they failed for good. Each is told with why, since when, and how its attempts ended. Tasks that wait for a blocked one are listed apart. With --suggest each gets a strategy from that history (increase_timeout, split, fix_gate, other_agent or manual_review), its reason, and the commands to type.',
    does: 'what may help each blocked task',
    examples: [
      ['ralph blocked --json', 'the same as data, with every attempt'],
      ['ralph blocked --session 260208-143000', 'of a session that is over'],
    ],
    see: ['unblock', 'retry-blocked', 'why', 'docs/guides/unblock.md'],
  },
  unblock: {
    group: 'Say something',
    text: 'Gives tasks that are out of attempts their attempts back, sets failed ones to todo, and closes the questions about them. With more time if you say so: --timeout in seconds beyond any bound, --timeout-multiplier as a factor within the bounds of `adaptive_timeout`. It is recorded in the history of each task, which `ralph why ID` shows. A live run takes it up within a second; a stopped one at its next start.',
    does: 'try t3 again',
    examples: [
      ['ralph unblock t3 --reason "the API key is set now"', 'with the reason on record'],
      ['ralph unblock t3 --timeout 1800', 'half an hour for each next attempt'],
      [
        'ralph unblock --filter ui_heavy --timeout-multiplier 3.0',
        'every blocked task of a class, three times as long',
      ],
    ],
    exits: {
      0: 'it was done, or sent to the live run',
      5: 'an unknown task or class, no blocked task of that class, or an aborted session; nothing was changed',
    },
    see: ['blocked', 'retry-blocked', 'why', 'docs/guides/unblock.md'],
  },
  'retry-blocked': {
    group: 'Say something',
    text: 'Gives every blocked task its attempts back, as `ralph unblock` does for one. Tasks that only wait for a blocked one need nothing. With --max-attempts each counts as blocked again after so many charged tries. Where nothing is blocked it says so and starts nothing.',
    does: 'one more try for each, now',
    examples: [['ralph retry-blocked --max-attempts 2', 'at the next `ralph run`, two tries for each']],
    exits: {
      ...RUN_EXITS,
      0: 'it was done, sent to the live run, or nothing is blocked; with --run, the loop is complete',
      5: 'an aborted session, or no session here: nothing was changed; with --run also what keeps a run from starting',
    },
    see: ['blocked', 'unblock', 'run', 'docs/guides/unblock.md'],
  },
  init: {
    group: 'Set up',
    text: 'Looks at the project (package manager, commands that test, lint and build, task lists, installed agents, git) and proposes a commented `ralph.yml` and the ignore entries it needs. What is there already is kept; nothing else is changed. Without a terminal it writes only with --yes.',
    does: 'write what is proposed',
    examples: [['ralph init --dry-run', 'only show it']],
    exits: {
      0: 'written, shown, or nothing to write',
      5: 'nobody could be asked, or the project cannot be read; nothing was changed',
      7: 'you said no',
    },
    see: ['run', 'docs/guides/gates.md', 'docs/reference/configuration.md'],
  },
  import: {
    group: 'Set up',
    text: 'Reads a task list of another tool (JSON, YAML or Markdown), shows the tasks it holds and a difference of what would be written, and writes it as `ralph/tasks.json`. Most lists need no import: `ralph run --tasks FILE` works on the file itself, and the import says so. What is there already is written over only with --yes, or when you say so on a terminal.',
    does: 'show the tasks and what would be written',
    examples: [
      ['ralph import IMPLEMENTATION_PLAN.md', 'write a plan in Markdown as ralph/tasks.json'],
      ['ralph import prd.json --fix', 'take comments and trailing commas out of the file itself'],
      [
        'ralph import plan.json --list stories --to ralph/tasks.json --yes',
        'one of several lists, over the one that is there',
      ],
    ],
    exits: {
      0: 'written, shown, or nothing to write',
      5: 'no readable list, several lists, or a file that is there',
      7: 'you said no',
    },
    see: ['init', 'tasks', 'run'],
  },
  config: {
    group: 'Set up',
    text: 'Prints the settings in force as YAML: defaults, your own file, the file of the project, the instructions of the open session, the environment and the flags given here, later ones winning. Tokens and secrets are shown as `set (hidden)`. A mistake in any of them is told with its line, as `ralph run` would.',
    does: 'every key, its value, and the line, variable or flag that set it',
    examples: [
      ['ralph config --json', 'what is in force, as one JSON value'],
      ['ralph config --origin --max-stuck 5', 'what a run with this flag would have'],
      ['ralph config --schema > .ralph/ralph.schema.json', 'the JSON Schema, for your editor'],
    ],
    see: ['init', 'run', 'docs/reference/configuration.md', 'docs/reference/configuration-mistakes.md'],
  },
  hats: {
    group: 'Set up',
    text: 'The roles of this project: those of your own under `roles` in ralph.yml, and the built-in ones with who plays each. `show` tells all about one, `graph` draws which topic wakes whom as a Mermaid flowchart, `validate` looks for what cannot work (a topic that wakes two, a role that nothing wakes, a loop without a way out) and for what is odd. Nothing is started.',
    does: 'whether the roles fit together',
    examples: [
      ['ralph hats', 'every role, one line each'],
      ['ralph hats show reviewer', 'who reviews here, with which model'],
      ['ralph hats graph > roles.mmd', 'the topics as a picture'],
      ['ralph hats validate --json', 'problems and warnings as data'],
    ],
    exits: {
      0: 'it was shown; `validate`: nothing is wrong, though something may be odd',
      5: '`validate`: something is wrong; else a mistake in the configuration, or an unknown role',
    },
    see: ['config', 'agents', 'docs/guides/hats.md', 'docs/reference/configuration.md'],
  },
  doctor: {
    group: 'Set up',
    text: 'Tries everything that a run needs: machine, git, folders, configuration, task list, the gates on the tree as it is, and one real start of the agent, which is also asked to run the gates. Every failure comes with its fix. `ralph run` checks the free part of it at each start.',
    does: 'everything that costs nothing',
    examples: [
      ['ralph doctor', 'the whole examination, with one real start of the agent'],
      ['ralph doctor --json', 'every check as data'],
    ],
    exits: {
      0: 'everything that a run needs is there',
      5: 'something is missing: each row that failed says how to mend it',
      130: 'interrupted; 143 by SIGTERM or a closed terminal',
    },
    see: ['init', 'agents', 'config', 'docs/guides/gates.md'],
  },
  agents: {
    group: 'Set up',
    text: 'Who could work here: the built-in agents and those of ralph.yml, whether each is installed and logged in, and how its last run went.',
    does: 'the list',
    examples: [['ralph agents --json', 'the list as data']],
    see: ['doctor', 'config', 'docs/guides/custom-agent.md'],
  },
  bot: {
    group: 'Set up',
    text: 'Telegram. `onboard` shows a code, good for ten minutes; the chat that sends it to the bot is paired with this project: it is told the news and heard. `status` says whether there is a token and where it was set, which bot it is, who is heard, and who reads the bot now; the token itself is never shown. `test` sends one message to everybody who is told news. `unpair` takes a chat back.',
    does: 'pair your chat',
    examples: [
      ['ralph bot', 'token, bot, and who is heard'],
      ['ralph bot test', 'send a message to try it'],
      ['ralph bot unpair 123456789', 'this chat is neither told nor heard any more'],
    ],
    see: ['inbox', 'tell', 'config', 'docs/guides/telegram.md'],
  },
  archive: {
    group: 'Set up',
    text: 'Moves finished sessions to `.ralph/archive/<date>-<label>/`. Logs stay beside the other sessions unless --include-logs is given. A live session is never moved.',
    does: 'move them under a name of your own',
    examples: [['ralph archive --include-logs', 'with their transcripts']],
    see: ['sessions', 'logs'],
  },
  demo: {
    group: 'Set up',
    text: 'Plays the main job in a new temporary repository with a scripted agent, without network and without cost: three tasks, a false "done" that is caught, a question that is asked and answered, real commits, and the summary.',
    does: 'watch it once',
    examples: [['ralph demo --json', 'every fact as NDJSON, the last line is the result']],
    exits: RUN_EXITS,
    see: ['run', 'docs/tutorial.md'],
  },
  completions: {
    group: 'Set up',
    text: `Prints a script that completes commands, flags, their values, and names of the project (sessions, tasks, questions, teams, agents, task files). The script asks the installed ralph at every TAB, so it need not be renewed with a new version.`,
    does: 'load it in this bash',
    examples: [
      [`echo 'source <(ralph completions bash)' >> ~/.bashrc`, 'bash, from now on'],
      [`echo 'source <(ralph completions zsh)' >> ~/.zshrc`, 'zsh, below the line that loads compinit'],
      ['ralph completions fish > ~/.config/fish/completions/ralph.fish', 'fish, from now on'],
    ],
    see: ['docs/reference/cli.md'],
  },
};
