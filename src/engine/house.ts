/**
 * One running session: its state, its ports and the agents that are alive. Everything the engine does
 * goes through `append`, so that what is not in the journal did not happen.
 */
import {
  type Exit,
  evolve,
  type Fact,
  type JournalRecord,
  type Mark,
  type Redactor,
  type SideGround,
  type State,
  type Usage,
} from '../core/index.ts';
import type {
  Agent,
  AgentEvent,
  AgentHandle,
  Clock,
  FeedbackSource,
  Gates,
  Ground,
  GroundPool,
  Host,
  HumanDesk,
  Journal,
  KnowledgeSource,
  Leftovers,
  Mailbox,
  Mirrors,
  Spending,
  TaskList,
  Works,
} from './ports.ts';
import type { CycleFiles } from './ports-cycle.ts';
import type { Landings } from './ports-landing.ts';

/** Another owner took the session over: stop at once and touch nothing. */
export class Fenced extends Error {
  constructor() {
    super('another runner has taken this session over');
    this.name = 'Fenced';
  }
}

export interface Ports {
  clock: Clock;
  journal: Journal;
  mailbox: Mailbox;
  desk: HumanDesk;
  works: Works;
  ground: Ground;
  /** null: calls run one by one. */
  pool: GroundPool | null;
  agent(name: string): Agent;
  gates: Gates;
  leftovers: Leftovers;
  /** null: no list, the objective is the task. */
  list: TaskList | null;
  mirrors: Mirrors;
  knowledge: KnowledgeSource;
  feedback: FeedbackSource;
  spending: Spending;
  host: Host;
  /** null: the work tree is no loop's. */
  landings: Landings | null;
  cycles: CycleFiles;
  /** What agents and programs said goes through it on its way in: no secret stands in a fact, a log or a message. */
  redactor: Redactor;
  /** A fresh secret of at least 128 bits, as hex. */
  secret(): string;
  sha256(text: string): string;
  /** Told each record right after it is durable. */
  recorded(record: JournalRecord): void;
  /** Progress of a live agent, for windows only. */
  event(iteration: number, event: AgentEvent): void;
}

export interface House extends Ports {
  readonly sessionId: string;
  /** Absolute. */
  readonly sessionDir: string;
  /** Environment every agent and gate starts from; the attempt's own variables are added. */
  readonly env: Record<string, string>;
  state: State;
  /** Agents this runner holds, by iteration. */
  live: Map<number, AgentHandle>;
  /** What live agents have spent so far, by iteration. */
  usage: Map<number, Omit<Usage, 'model'>>;
  /** Set where this is the view of an attempt beside others: `ground` is then its own work tree. */
  side: (SideGround & { home: House }) | null;
  /** A mark that is known to be the ground's present content; null: look again. */
  fresh: Mark | null;
  /** Set from outside by a process signal; read at every boundary. */
  interrupt: {
    signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | null;
    wake(): void;
    readonly wakes: Set<() => void>;
  };
  /** Whether HEAD has the task file, so that its marks belong into commits. */
  listTracked: boolean;
  /** The branch this run works on, null: none; undefined: not looked yet. */
  branch: string | null | undefined;
  /** This runner has seen to it that what is set aside is out of the tree. */
  asideCleared: boolean;
  /** When the runner before this one, which did not close the session, was last seen alive; epoch ms. */
  predecessorSeenAt: number | null;
  /**
   * Records that the mirrors were not drawn for, whether one is to be drawn all the same, and the ends of the rows
   * of appends and of looks at the mailbox.
   */
  readonly log: {
    pending: JournalRecord[];
    redrawDue: boolean;
    tail: Promise<unknown>;
    intake: Promise<unknown>;
  };
}

export interface HouseInit extends Ports {
  sessionId: string;
  sessionDir: string;
  env: Record<string, string>;
  /** What the journal adds up to; the house goes on with it in place. */
  state: State;
}

/** A house nobody lives in yet. */
export function openHouse(init: HouseInit): House {
  const wakes = new Set<() => void>();
  return {
    ...init,
    live: new Map(),
    usage: new Map(),
    side: null,
    fresh: null,
    interrupt: {
      signal: null,
      wakes,
      wake() {
        for (const wake of [...wakes]) wake();
      },
    },
    listTracked: false,
    branch: undefined,
    asideCleared: false,
    predecessorSeenAt: null,
    log: { pending: [], redrawDue: false, tail: Promise.resolve(), intake: Promise.resolve() },
  };
}

/**
 * One durable record. Facts may be given as a function of the state, which is then asked when all
 * earlier appends are in; callers that run side by side stay consistent that way.
 */
export function append(house: House, facts: Fact[] | ((state: State) => Fact[])): Promise<void> {
  const next = house.log.tail.then(async () => {
    const made = typeof facts === 'function' ? facts(house.state) : facts;
    if (made.length === 0) return;
    const record = await house.journal.append(house.state.seq, house.clock.now(), made);
    if (record === 'fenced') throw new Fenced();
    evolve(house.state, record);
    house.log.pending.push(record);
    house.recorded(record);
  });
  house.log.tail = next.catch(() => undefined);
  return next;
}

/** Draws the mirrors for everything appended since the last time. */
export async function redraw(house: House): Promise<void> {
  const { log } = house;
  const records = log.pending;
  if (records.length === 0 && !log.redrawDue) return;
  log.redrawDue = false;
  log.pending = [];
  await house.mirrors.redraw(house.state, records);
}

export type Wake = 'now' | 'message' | { at: number };

export interface Turned {
  wake: Wake;
  exit?: Exit;
}
