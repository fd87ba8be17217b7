/**
 * Permissions asked in the middle of an attempt: the policy decides, or people do. While somebody is asked the
 * attempt's clocks stand still and the mailbox is read on; every end of the wait is an answer to the agent, unless
 * the agent itself does not want to know any more.
 */
import { isAbsolute, relative, resolve } from 'node:path';
import {
  type Fact,
  isAllowedInRun,
  isDue,
  openPermissions,
  type PermissionDecision,
  type PermissionRequest,
  type PermissionVerdict,
  permissionDecision,
  permissionFor,
  permissionQuestion,
  type Redactor,
  wantedIn,
} from '../core/index.ts';
import { append, type House } from './house.ts';
import { expire } from './perform/expire.ts';

export interface Permissions {
  /** The answer to one request, which its agent may take back. */
  decide(request: PermissionRequest, gone: AbortSignal): Promise<PermissionDecision>;
  /** Gives on what was answered since the last look, and hears silence. */
  look(): Promise<void>;
  /** What was refused so far, each with why; at most 20. */
  refused(): string[];
  /** After the agent's end: withdraws what is still open. */
  close(): Promise<void>;
}

export interface PermissionOwner {
  iteration: number;
  agent: string;
  about: string;
  /** People are shown, and the journal keeps, what goes through it; the rules see all of it. */
  redactor: Redactor;
}

const MOST_REFUSED = 20;

/** Begins with nothing asked. */
export function followPermissions(house: House, owner: PermissionOwner): Permissions {
  const waiting = new Map<string, (decision: PermissionDecision) => void>();
  const refused = new Set<string>();
  const { iteration } = owner;
  let isOver = false;

  async function refuse(request: PermissionRequest, reason: string): Promise<PermissionDecision> {
    const text = `Iteration ${iteration}: ${owner.agent} was refused \`${wantedIn(request).slice(0, 300)}\`: ${reason}`;
    await append(house, (state) =>
      state.notices.some((given) => given.text === text)
        ? []
        : [{ type: 'notice.given', level: 'warning', text }],
    );
    return { allow: false, reason };
  }

  async function ask(
    request: PermissionRequest,
    verdict: PermissionVerdict,
    gone: AbortSignal,
  ): Promise<PermissionDecision> {
    let id = '';
    await append(house, (state) => {
      const question = permissionQuestion(state, { ...owner, now: house.clock.now() }, { request, verdict });
      id = question.id;
      return [{ type: 'question.asked', question }];
    });
    const decided = new Promise<PermissionDecision>((resolve) => waiting.set(id, resolve));
    house.live.get(iteration)?.pauseClocks?.();
    const takeBack = () => void append(house, (state) => withdrawal(state, id, NOT_ASKED)).then(look);
    gone.addEventListener('abort', takeBack, { once: true });
    if (gone.aborted) takeBack();
    await look();
    return decided.finally(() => gone.removeEventListener('abort', takeBack));
  }

  async function look(): Promise<void> {
    for (const open of openPermissions(house.state, iteration))
      if (isDue(house.state, open, house.clock.now())) await expire(house, open.question.id);
    for (const [id, resolve] of waiting) {
      const asked = house.state.questions.get(id);
      const decision = asked === undefined ? null : permissionDecision(asked);
      if (decision === null) continue;
      waiting.delete(id);
      await append(house, [
        { type: 'guidance.reached', iteration, messages: [], questions: [id], how: 'live' },
      ]);
      resolve(decision);
    }
    if (waiting.size > 0) house.live.get(iteration)?.pauseClocks?.();
  }

  async function decided(wanted: PermissionRequest, gone: AbortSignal): Promise<PermissionDecision> {
    const { policy } = house.state;
    if (policy?.permissions === undefined) return { allow: true };
    const verdict = permissionFor(policy.permissions, { ...wanted, cwd: house.ground.cwd });
    const request = owner.redactor.value(wanted);
    if (verdict.word === 'allow') return { allow: true };
    const by = verdict.rule === null ? 'permissions.default' : `the rule "${verdict.rule}"`;
    if (verdict.word === 'deny') return refuse(request, `${by} says deny`);
    if (isAllowedInRun(house.state, request)) return { allow: true };
    const why = verdict.unread === undefined ? `${by} says ask` : `${verdict.unread}, so it is asked for`;
    if (policy.questions.interactTimeoutS === null)
      return refuse(
        request,
        `${why}, and nobody can be asked in this run: no terminal, and no channel that takes answers`,
      );
    return ask(request, verdict, gone);
  }

  return {
    async decide(asked, gone) {
      const wanted = inProject(asked, house.ground.cwd);
      const decision = await decided(wanted, gone);
      if (!decision.allow && !gone.aborted && !isOver && refused.size < MOST_REFUSED)
        refused.add(`\`${wantedIn(owner.redactor.value(wanted)).slice(0, 300)}\` (${decision.reason})`);
      return decision;
    },
    look,
    refused: () => [...refused],
    async close() {
      isOver = true;
      await append(house, (state) => withdrawn(state, iteration));
      await look();
    },
  };
}

/** Paths as people and rules name them, whether the agent tells them absolute or not. */
function inProject(request: PermissionRequest, cwd: string): PermissionRequest {
  const paths = request.paths.map((path) => {
    const inside = relative(cwd, resolve(cwd, path));
    return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? resolve(cwd, path) : inside;
  });
  const { from, ...rest } = request;
  const place = from === undefined ? cwd : resolve(cwd, from);
  return { ...rest, paths: [...new Set(paths)], ...(place === cwd ? {} : { from: place }) };
}

const NOT_ASKED = 'withdrawn: the agent does not ask it any more';

function withdrawal(state: House['state'], id: string, why: string): Fact[] {
  return state.openQuestions.has(id) ? [{ type: 'question.closed', id, why }] : [];
}

/** The questions of an attempt that is over: nobody waits for their answer any more. */
export function withdrawn(state: House['state'], iteration: number): Fact[] {
  const why = `withdrawn: iteration ${iteration}, which asked, is over`;
  return openPermissions(state, iteration).flatMap(({ question }) => withdrawal(state, question.id, why));
}
