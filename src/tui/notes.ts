/** What is remembered of a live agent's progress: its last lines, its tool, its spending. Bounded. */
import { type Spent, spentIn } from '../core/index.ts';
import type { AgentEvent } from '../engine/index.ts';
import { oneLine, plain } from '../views/index.ts';

export interface Notes {
  /** Last lines of its text, newest last, safe for a terminal. */
  lines: string[];
  tool: string | null;
  retry: string | null;
  bill: Spent;
  tokens: number;
}

const MAX_LINES = 20;
const MAX_PIECE_CHARS = 8_000;

export function emptyNotes(): Notes {
  return { lines: [], tool: null, retry: null, bill: { costUsd: null, estimated: null }, tokens: 0 };
}

/** Takes one event in, in place. */
export function note(notes: Notes, event: AgentEvent): void {
  if (event.kind === 'retry') {
    notes.retry = `try ${event.attempt}: ${oneLine(event.reason)}`;
    return;
  }
  notes.retry = null;
  switch (event.kind) {
    case 'progress':
    case 'text': {
      // The end of a long piece is what is being said now.
      const said = plain(event.text.slice(-MAX_PIECE_CHARS), MAX_PIECE_CHARS).split('\n');
      const lines = said.map((line) => oneLine(line, 400)).filter((line) => line !== '');
      notes.lines = [...notes.lines, ...lines].slice(-MAX_LINES);
      return;
    }
    case 'tool':
      notes.tool = oneLine(`${event.name} ${event.detail}`, 300);
      return;
    case 'usage':
      notes.bill = spentIn(event);
      notes.tokens = event.inputTokens + event.outputTokens;
      return;
  }
}
