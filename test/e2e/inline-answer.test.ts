/** A question answered in the terminal where the run waits, on a real pseudo-terminal. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { facts, prompt, until } from './journal.ts';
import { DONE, makeProject, type Project, type ScriptedRun } from './project.ts';
import { onTerminal, type Terminal, whyNoPty } from './pty.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
let terminal: Terminal | null = null;
afterEach(async () => {
  terminal?.kill();
  await terminal?.done;
  terminal = null;
  project?.remove();
});

const ASKS = '<promise>DECIDE:Which colour? Options: (A) red (B) blue</promise>';
const asking = (iteration: number, say = ASKS): ScriptedRun => ({
  when: { iteration },
  do: [{ write: { path: 'half.txt', content: `${iteration}\n` } }, { say }],
});
const paints: ScriptedRun = {
  do: [{ write: { path: 'shed.txt', content: 'painted {{iteration}}\n' } }, { say: DONE }],
};
const answered = () => facts(project, 'question.answered').map(({ id, text, option }) => [id, text, option]);

const why = whyNoPty();
describe.skipIf(why !== null)(`on a terminal${why === null ? '' : ` (${why})`}`, () => {
  test('the question is shown with its options, a typed letter answers it, and the work goes on', async () => {
    project = makeProject({ runs: [asking(1), paints] });
    terminal = onTerminal(project, ['run', 'paint the shed']);
    await terminal.sees('Which colour?');
    await terminal.sees('A) red');
    await terminal.sees('answer q1> ');
    terminal.type('\r');
    await terminal.sees('answer q1> ');
    expect(answered()).toEqual([]);
    terminal.type('b\r');
    expect(await terminal.done).toBe(0);
    expect(answered()).toEqual([['q1', 'blue', 'B']]);
    expect(facts(project, 'question.answered')[0]!.by).toMatch(/@/);
    expect(prompt(project, 2)).toContain('blue');
    expect(terminal.screen).toContain('Exit');
  });

  test('words are an answer as they are, with every letter of them, corrected before Enter', async () => {
    project = makeProject({ runs: [asking(1), paints] });
    terminal = onTerminal(project, ['run', 'paint the shed'], { columns: 60 });
    await terminal.sees('answer q1> ');
    terminal.type('grün, ganz dunkel – 青x\u007f wie der Wald hinter dem Haus im späten November\r');
    expect(await terminal.done).toBe(0);
    expect(answered()).toEqual([
      ['q1', 'grün, ganz dunkel – 青 wie der Wald hinter dem Haus im späten November', null],
    ]);
  });

  test('an answer from elsewhere ends the prompt and is told', async () => {
    project = makeProject({ runs: [asking(1), paints] });
    terminal = onTerminal(project, ['run', 'paint the shed']);
    await terminal.sees('answer q1> ');
    terminal.type('re');
    expect((await project.ralph(['answer', 'q1', 'green'])).code).toBe(0);
    await terminal.sees(/q1 is answered: green/);
    expect(await terminal.done).toBe(0);
    expect(answered()).toEqual([['q1', 'green', null]]);
  });

  test('Ctrl-C ends the run while it asks, and the terminal is as it was', async () => {
    project = makeProject({ runs: [asking(1), paints] });
    const shell = 'eval "$RALPH run paint"; echo "code $?"; stty -a | grep -o "[-]*icanon"';
    terminal = onTerminal(project, [], { shell });
    await terminal.sees('answer q1> ');
    terminal.type('\u0003');
    await terminal.sees('code 130');
    await terminal.sees(/[^-]icanon/);
    await terminal.done;
    expect(facts(project, 'run.stopped')).toMatchObject([{ code: 130 }]);
    const again = onTerminal(project, ['run']);
    terminal = again;
    await again.sees('answer q1> ');
    again.type('A\r');
    expect(await again.done).toBe(0);
  });

  test('Ctrl-D stops the asking and not the run', async () => {
    project = makeProject({ runs: [asking(1), paints] });
    terminal = onTerminal(project, ['run', 'paint the shed']);
    await terminal.sees('answer q1> ');
    terminal.type('\u0004');
    await terminal.sees('Nothing more is read here');
    expect((await project.ralph(['answer', 'green'])).code).toBe(0);
    expect(await terminal.done).toBe(0);
  });

  test('several questions are asked one after the other', async () => {
    project = makeProject({ runs: [asking(1), asking(2, '<promise>DECIDE:Which brush?</promise>'), paints] });
    terminal = onTerminal(project, ['run', 'paint the shed']);
    await terminal.sees('answer q1> ');
    terminal.type('A\r');
    await terminal.sees('Which brush?');
    await terminal.sees('answer q2> ');
    terminal.type('the wide one\r');
    expect(await terminal.done).toBe(0);
    expect(answered()).toEqual([
      ['q1', 'red', 'A'],
      ['q2', 'the wide one', null],
    ]);
  });

  test('with --quiet only what is asked is shown, and the summary', async () => {
    project = makeProject({ runs: [asking(1), paints] });
    terminal = onTerminal(project, ['run', 'paint the shed', '--quiet']);
    await terminal.sees('answer q1> ');
    expect(terminal.screen).toMatch(/^\s*q1 · decision about objective/);
    terminal.type('A\r');
    expect(await terminal.done).toBe(0);
  });

  test('a run in the background asks nothing and is not stopped by the terminal', async () => {
    project = makeProject({ runs: [asking(1), paints] });
    terminal = onTerminal(project, [], { shell: `set -m; eval "$RALPH run paint" & wait; echo "code $?"` });
    await until(() => facts(project, 'question.asked').length === 1, 'the question');
    await new Promise((done) => setTimeout(done, 1_500));
    expect(terminal.screen).not.toContain('answer q1> ');
    expect((await project.ralph(['answer', 'green'])).code).toBe(0);
    await terminal.sees('code 0');
  });

  test('Ctrl-Z and bg: the loop goes on in the background and leaves the terminal to others', async () => {
    project = makeProject({ runs: [asking(1), paints] });
    const shell = 'set -m; eval "$RALPH run paint"; echo "left $?"; bg; wait; echo "code $?"';
    terminal = onTerminal(project, [], { shell });
    await terminal.sees('answer q1> ');
    terminal.type('\u001a');
    await terminal.sees('left 1');
    await new Promise((done) => setTimeout(done, 1_500));
    expect((await project.ralph(['answer', 'green'])).code).toBe(0);
    await terminal.sees('code 0');
    expect(terminal.screen.match(/answer q1> /g)).toHaveLength(1);
  });

  test('with --json, or with --no-wait, nothing is prompted', async () => {
    project = makeProject({ runs: [asking(1), paints] });
    terminal = onTerminal(project, ['run', 'paint the shed', '--json']);
    await until(() => facts(project, 'run.stopped').length === 1, 'the end');
    expect(await terminal.done).toBe(3);
    terminal = onTerminal(project, ['run', '--no-wait']);
    expect(await terminal.done).toBe(3);
    expect(terminal.screen).not.toContain('answer q1> ');
  });
});
