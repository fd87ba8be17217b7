/** What agents read back: a confirmation in one line, or what is wrong and what to do, in three. */

export const OK = 0;
const PROBLEM = 5;

export const USAGE = `ralph emit TOPIC [PAYLOAD] [--payload-json]   publish a topic, or report: ralph emit ralph.result '{"status":"completed"}' --payload-json
ralph tools interact progress TEXT            tell a person, without waiting`;

export interface Complaint {
  what: string;
  why: string;
  fix: string;
}

/** Prints a problem on stderr and answers exit code 5. */
export function complain({ what, why, fix }: Complaint): number {
  process.stderr.write(`${what}\n  why: ${why}\n  fix: ${fix}\n`);
  return PROBLEM;
}
