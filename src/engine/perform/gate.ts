/** Runs one gate while messages are read; a pause, an abort or a signal ends it without a result. */
import type { Fact, GateDef, GateResult } from '../../core/index.ts';
import { append, type House } from '../house.ts';
import { watch } from '../watch.ts';

export interface GateRunCall {
  iteration: number;
  def: GateDef;
}

/** The result without the tree it stands for; null when it was ended before it had one. */
export async function runGate(
  house: House,
  { iteration, def }: GateRunCall,
): Promise<Omit<GateResult, 'tree'> | null> {
  const marker = `${house.sessionId}-gate-${iteration}-${house.secret().slice(0, 12)}`;
  const running = house.gates.run(def, { ground: house.ground, env: house.env, marker });
  const watcher = watch(house, { end: () => void running.stop() });
  const result = await running.done;
  await watcher.close();
  if (result === null) return null;
  const { outputText, ...rest } = result;
  const name = `gate-${def.name.replace(/[^\w.-]+/g, '_')}.txt`;
  const output = await house.works.put(`attempts/${String(iteration).padStart(3, '0')}/${name}`, outputText);
  await house.works.attemptFile(iteration, name, outputText);
  return { ...rest, output };
}

/** Appends the result under the tree it was gained on. */
export async function recordGate(
  house: House,
  gate: { iteration: number; when: 'baseline' | 'after'; result: GateResult },
): Promise<void> {
  const fact: Fact = { type: 'gate.ran', ...gate };
  await append(house, [fact]);
}
