/**
 * The prompt of a trial: `ralph doctor` starts the agent once and has it run each gate, because what an
 * agent may not run shows only when it tries. And what its last message says of it, read back.
 */

/** A gate, as a trial needs it. */
export interface TrialGate {
  name: string;
  run: string;
}

/** What the agent says became of one gate. */
export type TrialWord = { kind: 'ran'; exitCode: number } | { kind: 'denied'; reason: string };

/** The word for "I am here", where there is no gate to run. */
const READY = 'RALPH-READY';

/** What the agent is told. Nothing in it is a task, so that an honest agent leaves the work tree alone. */
export function trialPrompt(gates: readonly TrialGate[]): string {
  const head = `This is a check before unattended work, started by \`ralph doctor\`. It is not a task.
Change no file, repair nothing, start nothing in the background.`;
  if (gates.length === 0) return `${head}\n\nAnswer with this one line and nothing else:\n${READY}\n`;
  const each = gates.map(({ name, run }, n) => `${n + 1}. ${name}:\n\n${fenced(run)}`).join('\n\n');
  return `${head}

Run each of these commands in your shell, in this folder, exactly as it is written, one after the other.
A command that fails is a fine answer: do not repair it, go on with the next one.

${each}

Then end with one line for each of them, each on a line of its own, in one of these two forms:

RALPH-GATE <name> ran exit=<exit code>
RALPH-GATE <name> denied <in a few words, who or what did not let you run it>
`;
}

/** Indented, so that no fence inside the command can end the block. */
function fenced(run: string): string {
  return run
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}

/** What the last message says of each gate; the last line about a gate counts. Unknown names are passed by. */
export function readTrial(message: string, gates: readonly TrialGate[]): Map<string, TrialWord> {
  const names = new Set(gates.map(({ name }) => name));
  const said = new Map<string, TrialWord>();
  const pattern =
    /^[ \t>*`-]*RALPH-GATE[ \t]+`?([\w.-]+)`?[ \t]+(?:ran[ \t]+exit=(\d{1,3})|denied\b[: \t]*(.*?))[`* \t\r]*$/gm;
  for (const [, name, code, reason] of message.slice(-100_000).matchAll(pattern)) {
    if (name === undefined || !names.has(name)) continue;
    if (code !== undefined) said.set(name, { kind: 'ran', exitCode: Number(code) });
    else said.set(name, { kind: 'denied', reason: (reason ?? '').slice(0, 200) });
  }
  return said;
}
