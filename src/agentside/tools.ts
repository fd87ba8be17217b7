/** `ralph tools …`: small commands for agents. Each is a row; what an agent says goes through its outbox. */
import { publish } from './emit.ts';
import { MAX_PAYLOAD_BYTES, voiceFrom } from './outbox.ts';
import { complain, OK, USAGE } from './say.ts';

type Tool = (args: string[]) => number;

const TOOLS: Record<string, Tool> = { interact };

/** Runs `tools NAME …`; answers the exit code, 0 or 5. */
export function tools([name = '', ...args]: string[]): number {
  if (name === '--help' || name === '-h') {
    process.stdout.write(`${USAGE}\n`);
    return OK;
  }
  const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  if (tool !== undefined) return tool(args);
  return complain({
    what: name === '' ? 'No tool was named.' : `"${name}" is not a tool.`,
    why: `There is: ${Object.keys(TOOLS).join(', ')}.`,
    fix: USAGE,
  });
}

/** `interact progress TEXT` tells a person something and goes on. */
function interact([verb = '', ...words]: string[]): number {
  const fix = 'ralph tools interact progress "All tests pass; starting the integration phase"';
  if (verb !== 'progress') {
    return complain({
      what: verb === '' ? 'interact needs a verb.' : `"interact ${verb}" is not known.`,
      why: 'It can tell progress. A question is asked with `ralph emit human.interact "…"`.',
      fix,
    });
  }
  const voice = voiceFrom(process.env);
  if ('what' in voice) return complain(voice);
  const json = words.includes('--json');
  const text = words
    .filter((word) => word !== '--json' && word !== '--')
    .join(' ')
    .trim();
  if (text === '') return complain({ what: 'There is nothing to tell.', why: 'The text is empty.', fix });
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes > MAX_PAYLOAD_BYTES) {
    return complain({
      what: 'The text is too long, and nothing was told.',
      why: `It has ${bytes} bytes; at most ${MAX_PAYLOAD_BYTES} are carried.`,
      fix: 'Tell the outcome in a sentence or two.',
    });
  }
  return publish(voice, { topic: 'interact.progress', payload: text, json });
}
