/**
 * Gathers the evidence of one ended attempt, runs the gates that are still due, and writes the verdict
 * with everything that follows from it as one record.
 */
import {
  type AttemptState,
  type Evidence,
  type GateDef,
  type GateResult,
  gateKey,
  hatEvidence,
  judge,
  MODES,
  runsCommand,
  type State,
  settle,
  type TaskState,
} from '../../core/index.ts';
import { earlierWork, ownChanges, standing } from '../changes.ts';
import { append, type House } from '../house.ts';
import { syncList } from '../list.ts';
import { pendingGuidance } from '../prompt-input.ts';
import { takenAlong } from './beside.ts';
import { recordGate, runGate } from './gate.ts';
import { receiptOf } from './receipt.ts';
import { lookAfterGates } from './rewritten.ts';
import { completeReport, promote } from './works.ts';

export async function judgeAttempt(house: House, iteration: number): Promise<void> {
  const attempt = house.state.attempts.get(iteration)!;
  const gated = await runGates(house, attempt);
  if (gated === null) return;
  const { tree, results } = gated;
  const evidence = await gather(house, { attempt, tree, results });
  const judgement = judge(evidence);
  await house.works.attemptFile(
    iteration,
    'evidence.json',
    `${JSON.stringify({ evidence, judgement }, null, 2)}\n`,
    { durable: false },
  );
  if (judgement.value === 'accepted') await promote(house, attempt);
  const taken = await takenAlong(house, attempt);
  await append(house, (state) => [
    ...settle({ state, attempt, evidence, judgement, tree, at: house.clock.now() }),
    ...taken,
  ]);
  await completeReport(house, iteration);
  await syncList(house);
}

interface Gated {
  results: { def: GateDef; after: GateResult }[];
  /** Those that ran now. */
  ran: GateDef[];
  /** Something stopped one: there is nothing to judge by yet. */
  ended: boolean;
}

/** What the gates say of the work as it lies there; null: something stopped one, and there is nothing to judge by. */
export async function runGates(
  house: House,
  attempt: AttemptState,
): Promise<{ tree: string; results: Gated['results'] } | null> {
  const mark = house.fresh ?? (await house.ground.snapshot());
  house.fresh = mark;
  let { tree } = mark;
  let gates = await gatesFor(house, attempt, tree);
  if (await lookAfterGates(house, { attempt, tree, ran: gates.ran, again: false })) {
    if (gates.ended) return null;
    // The verdict is about what will land: the gates are asked about what they made of it.
    tree = house.fresh.tree;
    gates = await gatesFor(house, attempt, tree);
    await lookAfterGates(house, { attempt, tree, ran: gates.ran, again: true });
  }
  return gates.ended ? null : { tree, results: gates.results };
}

/** Each result beside what the gate said before the task began. */
export function compared({ state }: House, base: string, results: Gated['results']): Evidence['gates'] {
  return results.map(({ def, after }) => ({
    def,
    after,
    baseline: state.gates.get(gateKey(def, base)) ?? null,
    onceGreen: state.onceGreen.has(`${def.name}\0${def.run}`),
  }));
}

/** Results on this tree: this attempt's own, those that passed before, and the rest by running them. */
async function gatesFor(house: House, attempt: AttemptState, tree: string): Promise<Gated> {
  const results: Gated['results'] = [];
  const ran: GateDef[] = [];
  if (!wantsGates(attempt)) return { results, ran, ended: false };
  for (const def of house.state.policy?.gates ?? []) {
    const known = attempt.gates.find(
      (gate) => gate.gate === def.name && gate.run === def.run && gate.tree === tree,
    );
    if (known) {
      results.push({ def, after: known });
      continue;
    }
    const stored = usable(house.state.gates.get(gateKey(def, tree)));
    if (!stored) ran.push(def);
    const result = stored ?? (await freshResult(house, { attempt, def, tree }));
    if (result === null) return { results, ran, ended: true };
    if (stored) await recordGate(house, { iteration: attempt.iteration, when: 'after', result });
    results.push({ def, after: result });
  }
  return { results, ran, ended: false };
}

/**
 * Only what passed counts again. Anything else may have another answer by now: a tool is installed, a
 * machine is fast, or the attempt made what git ignores and no tree shows.
 */
function usable(stored: GateResult | undefined): GateResult | undefined {
  return stored?.outcome === 'passed' ? stored : undefined;
}

async function freshResult(
  house: House,
  { attempt, def, tree }: { attempt: AttemptState; def: GateDef; tree: string },
): Promise<GateResult | null> {
  const made = await runGate(house, { iteration: attempt.iteration, def });
  if (made === null) return null;
  const result = { ...made, tree };
  await recordGate(house, { iteration: attempt.iteration, when: 'after', result });
  return result;
}

function wantsGates({ item, report, claim }: AttemptState): boolean {
  if (!MODES[item.mode].runsGates || report?.ending === 'died') return false;
  return claim?.kind !== 'blocked' && claim?.kind !== 'decide';
}

interface Gathering {
  attempt: AttemptState;
  tree: string;
  results: Gated['results'];
}

async function gather(house: House, { attempt, tree, results }: Gathering): Promise<Evidence> {
  const { state } = house;
  const { item, report, claim } = attempt;
  if (!report || !claim) throw new Error(`iteration ${attempt.iteration} has no report to judge`);
  const task = item.task === undefined ? null : (state.tasks.get(item.task) ?? null);
  const own = task ? await ownChanges(house, task, task.sinceReview) : attempt.changes;
  const stand = await standing(house, own);
  return {
    mode: item.mode,
    task: item.task ?? null,
    report,
    claim,
    stoppedFor: attempt.stoppedFor,
    needsNoChange: task?.def.changes === 'none',
    asked: asks(state, attempt, task),
    inner: attempt.inner,
    changed: attempt.changes,
    bookkeeping: attempt.bookkeeping,
    standing: stand,
    earlier: task && attempt.changeCount === 0 ? await earlierWork(house, task, stand) : null,
    gates: compared(house, task?.baseTree ?? attempt.before.tree, results),
    receipt: await receiptOf(house, {
      attempt,
      task,
      own,
      gates: results.map(({ def, after }) => ({ run: def.run, result: after })),
    }),
    trespass: attempt.trespass,
    marked: attempt.marked,
    review: attempt.review,
    hasCriteria: (task?.def.acceptance.length ?? 0) > 0,
    newTree: isNew(state, attempt, tree),
    oscillates: oscillates(state, task, attempt),
    historyRewritten: attempt.rewrote,
    branchChanged: switched(attempt),
    undeliveredSteer:
      task !== null &&
      pendingGuidance(state, item).some(
        ({ message, deliveries }) => message.type === 'STEER' && !deliveries.includes(attempt.iteration),
      ),
    refused: attempt.refused,
    deniedGate: deniedGate(attempt, state.policy?.gates ?? []),
    idleRow: state.idleRow,
    works: attempt.works,
    conflicts: conflictsOf(attempt, task),
    hat: hatEvidence(state, attempt),
  };
}

/** Where what it made beside others could not be brought home. */
function conflictsOf({ iteration, item, ground }: AttemptState, task: TaskState | null): string[] {
  if (ground === null || task === null) return [];
  if (item.mode === 'TASK_REVIEW') return task.conflicts;
  return task.parted.filter(([, at]) => at === iteration).map(([path]) => path);
}

/** A question that waits for people's words. Once: who asks again after silence, and does nothing else again, is not waiting for people any more. */
function asks(state: State, { iteration }: AttemptState, task: TaskState | null): boolean {
  const asked = (of: number) =>
    [...state.questions.values()].filter(
      ({ question }) => question.interact && question.permission === undefined && question.iteration === of,
    );
  const last = task?.attempts.filter((other) => other < iteration).at(-1);
  const silent =
    last !== undefined &&
    state.attempts.get(last)?.changeCount === 0 &&
    asked(last).some((one) => one.state === 'expired');
  return !silent && asked(iteration).length > 0;
}

/** Not seen before this attempt: its own before-tree and every earlier judged tree are known. */
function isNew(state: State, attempt: AttemptState, tree: string): boolean {
  return !state.seenTrees.has(attempt.after?.tree ?? tree);
}

function oscillates(state: State, task: TaskState | null, attempt: AttemptState): boolean {
  const [twoBack, last] = (task?.attempts ?? [])
    .slice(-3, -1)
    .map((iteration) => state.attempts.get(iteration)?.after?.tree);
  const now = attempt.after?.tree;
  return twoBack !== undefined && now === twoBack && last !== undefined && last !== now;
}

function switched({ before, after }: AttemptState): string | null {
  if (after === null || before.branch === after.branch) return null;
  return `${before.branch ?? 'a detached HEAD'} to ${after.branch ?? 'a detached HEAD'}`;
}

/** A denied command that is one of the task's gates. */
function deniedGate(attempt: AttemptState, gates: GateDef[]): string | null {
  for (const { command, denied } of attempt.report?.commands ?? []) {
    if (denied && gates.some((gate) => runsCommand(command, gate.run))) return command;
  }
  return null;
}
