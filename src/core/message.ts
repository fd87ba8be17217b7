/**
 * The one way in. Guidance, answers, control and task changes all arrive as a message with a sender,
 * whichever door it came through.
 */

export const MESSAGE_TYPES = [
  'STEER',
  'INFO',
  'PAUSE',
  'ABORT',
  'APPROVE',
  'SKIP',
  'RESUME',
  'HALT',
  'ANSWER',
  'TASK',
  'UNBLOCK',
  'FEEDBACK',
] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

export interface Message {
  /** The file name it arrived under; a second reading of it is the same message. */
  id: string;
  type: MessageType;
  /** ALL, a role, or orchestrator. */
  target: string;
  text: string;
  from: string;
  /** Epoch ms, from the file's own words where it has them. */
  createdAt: number;
  /** True when a person is named by a channel or by the signing command line. */
  confirmed: boolean;
  iteration?: number;
  urgent?: boolean;
  question?: string;
  option?: string;
  files?: string[];
  /** TASK: done, cancel or reopen. */
  op?: string;
  task?: string;
  timeoutS?: number;
  timeoutMultiplier?: number;
  /** UNBLOCK: charged tries until the task is out of attempts again; at least 1. */
  maxAttempts?: number;
  reason?: string;
}

/** The words of a message with the files that came along; those of a channel lie in the session's folder. */
export function wordsOf({ text, files = [] }: Pick<Message, 'text' | 'files'>): string {
  if (files.length === 0) return text;
  const named = files.map((path) => (path.startsWith('attachments/') ? `$RALPH_SESSION_DIR/${path}` : path));
  return `Attached: ${named.join(', ')}\n${text}`.trimEnd();
}
