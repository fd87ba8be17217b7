/** Takes in what somebody did to the markers of `progress.md`, and tells what became of it. */
import { type Fact, markerFacts, wasBusy } from '../core/index.ts';
import { append, type House } from './house.ts';
import { reportStale } from './perform/works.ts';
import type { ProgressEdit } from './ports.ts';

export async function readProgress(house: House): Promise<void> {
  const edit = await house.mirrors.edited(house.state);
  if (edit === null) return;
  const busy = wasBusy(house.state, edit.at);
  const aside = busy && edit.words ? await putAside(house, edit) : [];
  const facts = markerFacts(house.state, edit);
  await append(house, [...facts, ...aside]);
  await reportStale(house, facts);
  house.mirrors.settle(edit, !busy);
  house.log.redrawDue = true;
}

const WRITTEN = 'was written to while an agent was running';

/** What was written while an agent was at work is nobody's note: it is kept, and not in the file. */
async function putAside(house: House, { path, text }: ProgressEdit): Promise<Fact[]> {
  const told = house.state.notices.some((given) => given.text.includes(WRITTEN));
  const keptAs = await house.works.attemptFile(house.state.lastIteration, 'progress.edited.md', text);
  // Some agents do it at every attempt; once is enough.
  if (told) return [];
  return [
    {
      type: 'notice.given',
      level: 'info',
      text: `${path} ${WRITTEN}; it is drawn again, and what it said is kept as ${keptAs}. A note of yours in it stays if you write it while no agent is at work.`,
    },
  ];
}
