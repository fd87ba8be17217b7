/**
 * Everything that is wrong with the configuration, told at once: a person who has to fix a file wants
 * the whole list, not the first line of it.
 */
import { Problem, type ProblemFacts, placedWhat } from '../core/index.ts';

/** More than this is one mistake that repeats itself; the rest is counted, not told. */
const MOST_TOLD = 30;

/** Several problems as one `Problem`; `all` holds each with its own file and line. Exit code 5. */
export class Problems extends Problem {
  readonly all: ProblemFacts[];

  /** `subject`: what has the problems, as the start of a sentence. */
  constructor(all: ProblemFacts[], subject = 'The configuration') {
    super({
      code: 'config.invalid',
      what: `${subject} has ${all.length} problems: ${all.map((one) => placedWhat(one)).join('; ')}`,
      why: 'Nothing is started on a configuration that may not mean what you meant.',
      fix: all.map((one) => one.fix).join(' '),
    });
    this.name = 'Problems';
    this.all = all;
  }
}

/** Throws one problem as itself and several as `Problems`; does nothing without any. */
export function throwAll(found: ProblemFacts[]): void {
  if (found.length === 0) return;
  if (found.length === 1) throw new Problem(found[0]!);
  const told = found.slice(0, MOST_TOLD);
  if (found.length > told.length) {
    told.push({
      code: 'config.more',
      what: `${found.length - told.length} more problems are not listed`,
      why: `Only the first ${MOST_TOLD} are shown.`,
      fix: 'Fix these first, then run the command again.',
    });
  }
  throw new Problems(told);
}
