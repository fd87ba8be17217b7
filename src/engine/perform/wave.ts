/** Opening and closing a wave; both are one record, so a crash finds it open or closed and nothing between. */
import { closeWave, type Item } from '../../core/index.ts';
import { append, type House } from '../house.ts';
import { syncList } from '../list.ts';

export async function open(
  house: House,
  step: { wave: number; items: { iteration: number; item: Item }[] },
): Promise<void> {
  await append(house, [{ type: 'wave.started', wave: step.wave, items: step.items }]);
}

export async function close(house: House): Promise<void> {
  await append(house, closeWave);
  await syncList(house);
}
