/**
 * Every way in or out of the engine. A port says what its implementation owes; the rooms on the
 * third floor implement them, `app/` chooses which. Ports return values for what the world may do and
 * throw only `Problem`s (something a person can fix) or bugs.
 */
import type {
  AgentReport,
  Allowance,
  Change,
  CommitPlace,
  Fact,
  GateDef,
  GateResult,
  InnerRepository,
  JournalRecord,
  Mark,
  MarkedFile,
  Message,
  PermissionDecision,
  PermissionRequest,
  ProblemFacts,
  PromptKnowledge,
  Question,
  Redactor,
  State,
  TaskDef,
  TaskSource,
  TaskState,
  Usage,
  Whereabouts,
  WorkRef,
} from '../core/index.ts';

/** Time comes in through here only, so that scenarios can hold it still. */
export interface Clock {
  /** Epoch ms. */
  now(): number;
  /** Calls back once at or after `at`; returns the cancel. */
  at(at: number, wake: () => void): () => void;
}

/** One append is one durable record. `fenced`: another owner holds the session; stop at once. */
export interface Journal {
  /** The number of the last record; 0 when empty. */
  readonly seq: number;
  readonly epoch: number;
  append(expectedSeq: number, at: number, facts: Fact[]): Promise<JournalRecord | 'fenced'>;
}

export type Incoming =
  /** `arrivedAt`: epoch ms when the file came to lie there, by the file system and not by its words. */
  | { kind: 'message'; name: string; message: Message; arrivedAt: number }
  | { kind: 'rejected'; name: string; reason: string };

/** The signals folder. Reading never moves a file; `settle` does, after the fact was appended. */
export interface Mailbox {
  /** Whole files only, urgent types (PAUSE, ABORT) first, else by time; at most 100. */
  poll(now: number): Promise<Incoming[]>;
  settle(name: string, outcome: 'processed' | 'rejected', handling: Handling): Promise<void>;
  /** Calls back when something may have arrived; returns the cancel. */
  watch(changed: () => void): () => void;
}

export interface Handling {
  handledBy: string;
  handledAt: number;
  actionTaken: string;
  /** For rejected files: the reason, written beside them. */
  reason?: string;
}

export type DeskFile = 'blocked.txt' | 'decide.txt';

/** The human's desk: plain files in the work tree that a person edits or deletes. */
export interface Desk {
  /** null: no such file. `writtenAt`: epoch ms, by the file system; whoever writes the file cannot choose it. */
  read(file: DeskFile): Promise<{ text: string; sha256: string; writtenAt: number } | null>;
  write(file: DeskFile, text: string): Promise<string>;
  remove(file: DeskFile): Promise<void>;
  /** Moves an answered file into the session; returns where. */
  archive(file: DeskFile, iteration: number): Promise<string | null>;
}

/** Content by hash, and the files of each attempt. Paths are relative to the session folder. */
export interface Works {
  put(path: string, content: string | Uint8Array): Promise<WorkRef>;
  get(sha256: string): Promise<Uint8Array | null>;
  /**
   * Writes `attempts/<NNN>/<name>`; returns the path. `durable: false`: no fact names it, so that a power cut may
   * lose it.
   */
  attemptFile(
    iteration: number,
    name: string,
    content: string | Uint8Array,
    as?: { durable: boolean },
  ): Promise<string>;
  /** Absolute path of `attempts/<NNN>/outbox.jsonl`, made empty when missing. */
  outboxPath(iteration: number): Promise<string>;
  /** Absolute path of `logs/iteration-<NNN>.log`. */
  logPath(iteration: number): string;
  /** When the attempt last wrote to its log or outbox, epoch ms; 0: never. */
  lastSign(iteration: number): Promise<number>;
  /** Absolute path of `logs/iteration-<NNN>.prompt.md`, written. */
  writePrompt(iteration: number, text: string): Promise<WorkRef>;
}

/** What a person did at the desk since we last wrote there. */
export type DeskNews =
  | { id: string; kind: 'answered'; text: string; file: DeskFile; writtenAt: number }
  /**
   * `seenAt`: when a file that is gone was last seen, or when a file that lost the question was written;
   * absent where nobody saw. An attempt that ended since may have done it, and that clears nothing.
   */
  | { id: string; kind: 'cleared'; file: DeskFile; seenAt?: number }
  | { id: string; kind: 'unclear'; file: DeskFile; reason: string };

/** The desk as the engine sees it: open questions out, news of them back. */
export interface HumanDesk {
  /** `written`: files the journal knows we wrote. A file gone that we never wrote is no news. */
  look(asked: Question[], written: ReadonlySet<DeskFile>): Promise<DeskNews[]>;
  /** Makes the files show exactly these questions; answers what was written or removed. */
  show(asked: Question[]): Promise<{ file: DeskFile; sha256: string | null }[]>;
  /** Moves an answered decide.txt into the session. */
  archive(iteration: number): Promise<void>;
}

export interface CommitRequest {
  /** Relative to the ground's root; literal. */
  paths: string[];
  message: string;
  /** Ends git and its hooks at once; the answer is then failed. */
  signal?: AbortSignal;
  /** RALPH_MARKER for git and its hooks, so that a crash leaves nothing behind. */
  marker?: string;
}

export type CommitResult =
  /** `hooked`: hooks ran and may have changed files. */
  | { kind: 'committed'; commit: string; paths: string[]; hooked: boolean }
  | { kind: 'nothing' }
  | { kind: 'failed'; reason: string };

/** A file that tells git what to hide or what to run, and that says something else than it did. */
export interface RuleChange {
  /** Relative to the ground's root where it lies below it, else absolute. */
  path: string;
  /** Keys, or lines in words: what is not as it was. */
  what: string[];
  /**
   * `stuck`: it could not be put back. `spared`: written too late to be the attempt's. `gone`: the repository
   * itself is not there any more, or this linked work tree (`what`: `repository`, `work tree`, or git's own `entry` of it). `removed`: branches, tags or stashes are, and `what` brings each back.
   * `moved`: branches name another commit, each `<full name> <was> <is>`.
   */
  outcome: 'restored' | 'stuck' | 'spared' | 'gone' | 'removed' | 'moved';
  /** Absolute; a copy of what it said, as far as there was something to keep. */
  keptAs: string | null;
}

/** A place where an agent works: the work tree now, other work trees later. */
export interface Ground {
  /** Opaque name that stands in facts. */
  readonly id: string;
  /** Absolute root that paths are relative to. */
  readonly root: string;
  /** Absolute working directory of agents and gates: the root or a folder below it. */
  readonly cwd: string;
  readonly hasGit: boolean;
  /** HEAD read from files, no process. */
  head(): Promise<{ head: string | null; branch: string | null }>;
  /** Name of an unfinished merge, rebase, cherry-pick or bisect; null when there is none. */
  operation(): Promise<string | null>;
  /**
   * sha256 by path of the files outside of every commit that tell git what to hide and what to run; their
   * content is kept. No process.
   */
  rules(): Promise<Record<string, string>>;
  /**
   * Puts back those of these files that hide or run something else by now, where they still hold what was
   * found. `until` (epoch ms): what was written later is somebody else's and stays. No process.
   */
  restoreRules(before: Readonly<Record<string, string>>, until: number | null): Promise<RuleChange[]>;
  /** The content of everything git does not ignore, as a tree id. Leaves the user's index alone. */
  snapshot(): Promise<Mark>;
  /** Exact difference of two trees; renames are a removal and an addition. Natural path order. */
  changes(before: string, after: string): Promise<Change[]>;
  /** Blob id that each path has now (null: absent), by content, without any side effect. */
  current(paths: string[]): Promise<Map<string, string | null>>;
  /**
   * What lies at each path now, absent ones missing. Looks only; any text may be asked for, and what no
   * snapshot holds (ignored by git, in a repository of its own) is told as such.
   */
  whereabouts(paths: string[]): Promise<Map<string, Whereabouts>>;
  /** Repositories inside the ground with uncommitted content, as of the last snapshot, which holds none of it. */
  inner(): Promise<InnerRepository[]>;
  /**
   * Size of each file now, and its text where it is small enough to be read in passing; missing where it is none. No
   * process.
   */
  texts(paths: string[]): Promise<Map<string, { bytes: number; text: string | null }>>;
  /** Paths among these whose present content differs from HEAD's. */
  uncommitted(paths: string[]): Promise<string[]>;
  /** Blob id that each path has in a commit; what it lacks is missing. */
  committed(commit: string | null, paths: string[]): Promise<Map<string, string>>;
  read(blob: string): Promise<Uint8Array | null>;
  /** Those of the paths whose file was written after this moment (epoch ms), as its time stamp says. */
  writtenAfter(paths: string[], at: number): Promise<string[]>;
  /** Takes paths out of the index again that a landing announced to git and was killed before it committed. */
  withdraw(): Promise<void>;
  /** Puts each path to `after` (null removes) where it now holds `before`; answers the conflicts. */
  apply(changes: Change[]): Promise<string[]>;
  /**
   * Puts each change on top of what its path holds by now, line by line, where the two fit. `merged`: what the path
   * held and holds now; `conflicts`: left alone.
   */
  merge(changes: Change[]): Promise<{ merged: Change[]; conflicts: string[] }>;
  /** One commit of exactly these paths; the user's staged files stay staged. Hooks and signing run. */
  commit(request: CommitRequest): Promise<CommitResult>;
  /** Of these paths, those that HEAD has. */
  tracked(paths: string[]): Promise<string[]>;
  /** Commits reachable from `to` and not from `from`, oldest first; empty when equal. */
  commitsBetween(from: string | null, to: string | null): Promise<string[]>;
  /** Where each of these commits (whole ids or beginnings) lies as seen from `since`; unknown ones are missing. */
  commitPlaces(ids: string[], since: string | null): Promise<Map<string, CommitPlace>>;
  isAncestor(ancestor: string | null, of: string | null): Promise<boolean>;
  /** Whether a branch or a tag held it when these rules were read; what cannot be told counts as held. */
  wasHeld(rules: Readonly<Record<string, string>>, commit: string): Promise<boolean>;
  /** Those of the commits that HEAD's history lacks, in the given order. */
  missing(commits: string[]): Promise<string[]>;
  /** Keeps a commit that history no longer reaches under `refs/ralph/<session>/<n>`. */
  keep(commit: string, session: string, n: number): Promise<void>;
  /**
   * The newest commit that HEAD reaches and `from` does not whose message holds each of these lines, with
   * the paths it changed; null when there is none.
   */
  commitSaying(from: string | null, lines: string[]): Promise<{ commit: string; paths: string[] } | null>;
  /** The last commits' subject lines, newest first. */
  recentCommits(count: number): Promise<string[]>;
}

/** Work trees of the engine's own, for attempts that run side by side. */
export interface GroundPool {
  /**
   * The work tree of that name, made where it is missing, with exactly this content; what lay there of an earlier
   * attempt is gone. A Problem where none can be made.
   */
  fill(id: string, mark: Mark): Promise<Ground>;
  /** The work tree as it lies; null where it is gone. */
  open(id: string): Promise<Ground | null>;
  /** Gives them all back, but for those that hold a repository with what is nowhere else. */
  close(): Promise<void>;
  /** Those that were left because of that since it was last asked, with where in them the repositories lie. */
  left(): { root: string; paths: string[] }[];
}

/** What other sessions of the project spend, while this one runs. */
export interface Spending {
  /**
   * What they have spent since midnight, local time, as of now, and when that midnight was (epoch ms). Cheap: asked
   * every second.
   */
  othersToday(now: number): { usd: number; midnight: number };
}

/** What is left of the machine. */
export interface Host {
  /**
   * MB that can still be used: on the disks of these folders, of which those that cannot be asked are missing, and of
   * memory. Cheap: asked at every boundary.
   */
  free(folders: readonly string[]): Promise<{ disks: { path: string; mb: number }[]; memoryMb: number }>;
}

/** What an agent says it can do. The engine and the windows read it; nobody guesses by name. */
export interface Capabilities {
  stream: boolean;
  toolEvents: boolean;
  sessionResume: boolean;
  choosesSessionId: boolean;
  liveInput: boolean;
  interrupt: boolean;
  tokens: boolean;
  cost: boolean;
  limits: boolean;
  readOnly: boolean;
  /** It asks before it does something, and takes a no: rules about permissions hold for it. Absent: it cannot be asked. */
  permissions?: true;
}

export interface AgentCall {
  prompt: string;
  /** The agent's own session to go on in, where it can; absent: a fresh one. */
  resume?: string;
  /** The same text as a file. */
  promptPath: string;
  cwd: string;
  env: Record<string, string>;
  /** `RALPH_MARKER` value; also in `env`. */
  marker: string;
  allowance: Allowance;
  /** Raw output is written here as it comes, without secrets where a redactor is given. */
  logPath: string;
  redactor?: Redactor;
  model: string | null;
  readOnly: boolean;
  /** The command line as it is started inside of the sandbox; absent: it runs as it is. */
  wrap?(command: readonly string[]): string[];
  /** Told as soon as the process is there. */
  spawned(pid: number, startTime: string): Promise<void>;
  /** Progress for the windows; never facts. */
  event(event: AgentEvent): void;
  /** True when a file below the ground changed since `since` (epoch ms); asked before an idle end. */
  groundMoved(sinceMs: number): Promise<boolean>;
  /** Whether the agent may do this; absent where everything is allowed. `gone`: it does not want to know any more. */
  permission?(request: PermissionRequest, gone: AbortSignal): Promise<PermissionDecision>;
}

export type AgentEvent =
  | { kind: 'text'; text: string }
  /** What the agent tells people of itself, with `ralph tools interact progress`. */
  | { kind: 'progress'; text: string }
  | { kind: 'tool'; name: string; detail: string }
  /** Sums over the run so far. */
  | ({ kind: 'usage' } & Omit<Usage, 'model'>)
  | { kind: 'retry'; reason: string; attempt: number };

export interface AgentHandle {
  /**
   * Live input at the next safe point, `urgent` at once where the agent can be interrupted; absent where it cannot
   * be talked to. True: it took it in. False: it ended before, or listens no more. Settles before `done` is acted on.
   */
  send?(text: string, how?: { urgent?: boolean }): Promise<boolean>;
  /** Stands the attempt's clocks still until `resumeClocks`: it waits for a person and cannot help the time. */
  pauseClocks?(): void;
  resumeClocks?(): void;
  /** SIGTERM to the tree, SIGKILL after the grace; the report then says interrupted. */
  stop(graceMs: number): Promise<void>;
  /** Settles once the agent, and every process it left behind, is gone. Never rejects. */
  done: Promise<AgentReport>;
}

export interface Agent {
  readonly name: string;
  readonly capabilities: Capabilities;
  start(call: AgentCall): Promise<AgentHandle>;
  /** What the raw output of a run, of which nobody saw the end, tells of its bill; null: nothing. */
  billIn(run: Pick<AgentCall, 'logPath' | 'model'>): Promise<Usage | null>;
  /** Machine-level check: the binary is there and new enough. Empty when fine. */
  check(): Promise<ProblemFacts[]>;
}

/** A task list as the file says it now. */
export type ListReading =
  | {
      kind: 'list';
      tasks: TaskDef[];
      reviewed: boolean;
      gates: string[];
      warnings: string[];
      /** Those of the warnings that are worth a word at each start; what is left out on purpose is not. */
      odd?: string[];
      /** Those that name what somebody may have meant as tasks and that is read as none. */
      unread?: string[];
      sha256: string;
      text: string;
    }
  | { kind: 'missing' }
  /** `why`: what stands there instead of tasks; `fix`: what a task looks like in it. */
  | { kind: 'empty'; sha256: string; why?: string; fix?: string }
  | { kind: 'unreadable'; problem: ProblemFacts };

export interface ListEdit {
  before: string;
  mode: string;
  active: string;
  reviewCap: number;
}

/** What an attempt did to the task file; what was not its to change is already put back. */
export interface ListInspection {
  touched: boolean;
  /** New or legally changed definitions. */
  set: TaskDef[];
  sha256: string;
  marked: string[];
  review: { verdict: 'Qualified' | 'Failed'; feedback: string } | null;
  violations: string[];
  /** The agent's version, where anything of it was put back; null otherwise. */
  agentText: string | null;
}

/** The user's task file. Absent for a bare objective. */
export interface TaskList {
  readonly source: TaskSource;
  /** Relative to the ground's root; null outside it. */
  readonly groundPath: string | null;
  read(): Promise<ListReading>;
  inspect(edit: ListEdit): Promise<ListInspection>;
  /** Tasks that are over as the second text has them, and are not, or are not there, in the first. */
  ended(before: string, after: string): string[];
  /** Writes the marks of these tasks; only changed fields change. Answers whether the file changed. */
  mark(tasks: TaskState[]): Promise<boolean>;
}

/** Files drawn from the state; each can be deleted and comes back. Never throws for a full disk. */
export interface Mirrors {
  redraw(state: State, records: JournalRecord[]): Promise<void>;
  /**
   * What somebody did to the running cycle's `progress.md` since it was drawn; null: nothing that counts. It is not
   * drawn again before that was settled.
   */
  edited(state: State): Promise<ProgressEdit | null>;
  /** The edit was taken in. `keepsWords`: what stands there beside markers goes into the next drawing. */
  settle(edit: ProgressEdit, keepsWords: boolean): void;
}

export interface ProgressEdit extends MarkedFile {
  /** Relative to the session's folder. */
  path: string;
  /** As it lies there. */
  text: string;
  /** Something beside markers is different, too. */
  words: boolean;
}

/** Runs one gate command in the ground. */
export interface Gates {
  run(def: GateDef, call: GateCall): RunningGate;
}

export interface GateCall {
  ground: Pick<Ground, 'cwd'>;
  env: Record<string, string>;
  marker: string;
}

export interface RunningGate {
  /** Ends the gate; `done` then answers null: ended, no result. */
  stop(): Promise<void>;
  done: Promise<(Omit<GateResult, 'tree' | 'output'> & { outputText: string }) | null>;
}

/** Processes of earlier attempts, found by their environment marker. */
export interface Leftovers {
  /** Ends every process whose marker is one of these; answers their command lines. */
  endMarked(markers: string[]): Promise<string[]>;
}

/** Things a person put beside the task that go into the prompt. All bounded; missing files are empty. */
export interface KnowledgeSource {
  /** `about`: the words of the work; memories that share words with it come first. */
  read(about?: string): Promise<PromptKnowledge>;
  /** False: memories stand in no prompt. */
  readonly remembers?: boolean;
  /** Skills that agents can load, in the order of their folders; absent: there are none. */
  skills?(): Promise<SkillFile[]>;
}

export interface SkillFile {
  name: string;
  /** One line. */
  about: string;
  /** Absolute. */
  file: string;
}

/** Feedback batches under `iterations/<N+1>/feedbacks/`, each with the hash of its text as id. */
export interface FeedbackSource {
  poll(nextCycle: number): Promise<GivenFeedback[]>;
}

export interface GivenFeedback {
  id: string;
  text: string;
  /** Relative to the session's folder; absent where it lies in none. */
  folder?: string;
  /** When it was written, epoch ms; absent: before anybody was at work. */
  writtenAt?: number;
  /** A person's own command line signed it. */
  signed?: boolean;
}
