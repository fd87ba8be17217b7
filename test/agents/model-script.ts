/** What a scripted model is told to say, prompt by prompt and turn by turn, and what goes wrong on the way. */

export interface TokenCounts {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** Something that goes wrong instead of the turn, `times` times (default once), then the turn is played. */
export interface Fault {
  /**
   * `status`: an error answer. `truncate`: the stream ends half way. `reset`: the connection breaks half
   * way. `stall`: the stream opens and then says nothing. `error`: an error event inside a 200 stream.
   */
  kind: 'status' | 'truncate' | 'reset' | 'stall' | 'error';
  status?: number;
  message?: string;
  /** The provider's own word for it, where it has one. */
  code?: string;
  /** The whole body of the answer, where it has a form of its own. */
  body?: object;
  headers?: Record<string, string>;
  times?: number;
}

/** One answer of the model. `write` and `run` become calls of the CLI's own file and shell tools. */
export interface Turn {
  text?: string;
  write?: { path: string; content: string } | { path: string; content: string }[];
  run?: string | string[];
  /** Raw tool calls by exact name. */
  tools?: { name: string; input: Record<string, unknown> }[];
  usage?: Partial<TokenCounts>;
  headers?: Record<string, string>;
  delayMs?: number;
  fault?: Fault | Fault[];
}

/** What one fresh prompt gets. Without `match` it fits every prompt. */
export interface Conversation {
  match?: RegExp;
  turns: Turn[];
}

/**
 * The k-th fresh prompt that fits a group of conversations (equal `match`) plays the k-th of the group;
 * the last one repeats. Groups with a `match` are tried before those without.
 */
export interface ModelScript {
  conversations: Conversation[];
  /** Tokens of a turn that names none. */
  usage?: Partial<TokenCounts>;
}

/** Tokens of a turn that says nothing of them. */
export const DEFAULT_TOKENS: TokenCounts = { input: 1000, output: 50, cacheRead: 0, cacheWrite: 0 };

export const list = <T>(value: T | T[] | undefined): T[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

/** A fault that answers with this HTTP status for ever. */
export function always(status: number, rest: Partial<Fault> = {}): Fault {
  return { kind: 'status', status, times: Number.MAX_SAFE_INTEGER, ...rest };
}
