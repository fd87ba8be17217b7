/** Runs one gate while messages are read; a pause, an abort or a signal ends it without a result. */
import type { Fact, GateDef, GateResult } from '../../core/index.ts';
import { append, type House } from '../house.ts';
import { watch } from '../watch.ts';

export interface GateRunCall {
  iteration: number;
  def: GateDef;
}

/**
 * The marker of an iteration's gates. It can be told without a record of it, so that the gates of a killed
 * runner are found; the session's folder makes it this session's alone on the machine.
 */
export function gateMarker(house: House, iteration: number): string {
  return `${house.sessionId}-gate-${iteration}-${house.sha256(house.sessionDir).slice(0, 16)}`;
}

/** The result without the tree it stands for; null when it was ended before it had one. */
export async function runGate(
  house: House,
  { iteration, def }: GateRunCall,
): Promise<Omit<GateResult, 'tree'> | null> {
  const marker = gateMarker(house, iteration);
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
