/**
 * Marks in the task file that an attempt committed. The file in the work tree is put right at once; in HEAD they
 * stay until the next landing, and `git restore` brings them back.
 */
import type { AttemptState, Mark } from '../../core/index.ts';
import type { House } from '../house.ts';

/** Tasks that HEAD says are over, and that the file did not say so when the attempt began. */
export async function committedMarks(house: House, attempt: AttemptState, after: Mark): Promise<string[]> {
  const { list, ground } = house;
  const path = list?.groundPath ?? null;
  const { head, branch } = attempt.before;
  if (!list || path === null || attempt.taskFile === null) return [];
  // On another branch the list is what others made of it.
  if (after.head === head || after.branch !== branch) return [];
  const blob = (await ground.committed(after.head, [path])).get(path);
  const [before, committed] = await Promise.all([
    house.works.get(attempt.taskFile),
    blob === undefined ? null : ground.read(blob),
  ]);
  if (before === null || committed === null) return [];
  return list.ended(Buffer.from(before).toString('utf8'), Buffer.from(committed).toString('utf8'));
}
