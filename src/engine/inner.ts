/** What attempts left uncommitted in repositories inside the ground, where no snapshot of the ground looks. */
import type { AttemptState, InnerRepository, InnerWork } from '../core/index.ts';
import type { House } from './house.ts';

/** A fact names so many files of each. */
const FILES_TOLD = 20;

/** The prints that an attempt begins with, as its fact carries them. */
export async function innerBefore(house: House): Promise<{ inner?: Record<string, string> }> {
  const inner = await house.ground.inner();
  return inner.length === 0
    ? {}
    : { inner: Object.fromEntries(inner.map(({ path, print }) => [path, print])) };
}

/** What this attempt left there, and what earlier ones of its task left that is still uncommitted. */
export async function innerLeft(house: House, attempt: AttemptState): Promise<{ inner?: InnerWork[] }> {
  const task = attempt.item.task === undefined ? undefined : house.state.tasks.get(attempt.item.task);
  const earlier = (task?.attempts ?? []).flatMap(
    (iteration) => house.state.attempts.get(iteration)?.inner ?? [],
  );
  const known = new Set(earlier.map(({ path }) => path));
  const own = ({ path, print }: InnerRepository) => known.has(path) || attempt.innerBefore[path] !== print;
  const inner = (await house.ground.inner()).filter(own);
  if (inner.length === 0) return {};
  return {
    inner: inner.map(({ path, submodule, files }) => ({
      path,
      submodule,
      files: files.slice(0, FILES_TOLD),
    })),
  };
}
