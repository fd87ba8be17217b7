/** What agents read back: a confirmation in one line, or what is wrong and what to do, in three. */

export const OK = 0;
const PROBLEM = 5;

export const USAGE = `ralph emit TOPIC [PAYLOAD] [--payload-json]   publish a topic, or report: ralph emit ralph.result '{"status":"completed"}' --payload-json
ralph tools interact progress TEXT            tell a person, without waiting
ralph tools signals                           what people have said to you since your prompt
ralph tools memory add TEXT [--tags a,b]      keep what later calls should know
ralph tools memory search WORDS | list
ralph tools task list | show ID | add TITLE [--description TEXT]
ralph tools skill list | load NAME
ralph mcp                                     the same as an MCP server on stdio

Every tool takes --json.`;

export interface Complaint {
  what: string;
  why: string;
  fix: string;
}

/** What a tool answers: words for an agent, and the same as data. */
export interface Told {
  text: string;
  data: unknown;
}

/** Prints a problem on stderr and answers exit code 5. */
export function complain({ what, why, fix }: Complaint): number {
  process.stderr.write(`${complaintText({ what, why, fix })}\n`);
  return PROBLEM;
}

/** The three lines of a problem. */
export function complaintText({ what, why, fix }: Complaint): string {
  return `${what}\n  why: ${why}\n  fix: ${fix}`;
}

/** Prints the answer of a tool; answers the exit code. */
export function tell(answer: Told | Complaint, json: boolean): number {
  if ('what' in answer) return complain(answer);
  process.stdout.write(`${json ? JSON.stringify(answer.data) : answer.text}\n`);
  return OK;
}
