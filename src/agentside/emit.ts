/**
 * `ralph emit TOPIC [PAYLOAD] [--payload-json]`: publishes a topic, reports a result, or asks a person.
 * What can be known to be wrong is said here, while the agent can still act on it.
 */
import { append, MAX_PAYLOAD_BYTES, type Voice, voiceFrom } from './outbox.ts';
import { type Complaint, complain, OK, USAGE } from './say.ts';

interface Emission {
  topic: string;
  payload: unknown;
  json: boolean;
}

/** Answers the exit code: 0 when the line is in the outbox, else 5. */
export function emit(args: string[]): number {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${USAGE}\n`);
    return OK;
  }
  const voice = voiceFrom(process.env);
  if ('what' in voice) return complain(voice);
  const emission = readArgs(args);
  if ('what' in emission) return complain(emission);
  return publish(voice, emission);
}

/** Publishes and says so on stdout; answers the exit code. */
export function publish(voice: Voice, { json, ...emission }: Emission): number {
  const failed = send(voice, emission);
  if (failed !== null) return complain(failed);
  const { topic } = emission;
  process.stdout.write(`${json ? JSON.stringify({ ok: true, topic }) : confirmation(topic)}\n`);
  return OK;
}

/**
 * Puts it into the outbox, within the bounds of the role. Null once it is there. What is refused, a topic
 * outside the bounds or a person's word, is recorded there as well.
 */
export function send(voice: Voice, { topic, payload }: Omit<Emission, 'json'>): Complaint | null {
  if (/^human\.(?!interact$)/i.test(topic)) {
    append(voice, topic, payload);
    return {
      what: `"${topic}" is a person's word; it was refused and recorded.`,
      why: 'An agent can ask a person, but neither answer for one nor guide itself in their name.',
      fix: 'Ask with `ralph emit human.interact "…"`; a person answers with `ralph answer`.',
    };
  }
  if (!mayPublish(topic, voice.publishes)) {
    const failed = append(voice, 'ralph.unlisted', { topic, payload });
    const listed = voice.publishes?.join(', ') || 'nothing';
    return {
      what: `"${topic}" was not published.`,
      why: `This role may publish: ${listed}.${failed === null ? '' : ` (${failed.why})`}`,
      fix: 'Publish one of these topics, or say it in the last message of this call.',
    };
  }
  return append(voice, topic, payload);
}

/** What is told once a topic is published. */
export function confirmation(topic: string): string {
  switch (topic) {
    case 'human.interact':
      return 'Asked. End this turn now; the answer, or silence, stands in your next prompt.';
    case 'ralph.result':
      return 'Reported. The loop checks it against the repository and the gates.';
    case 'interact.progress':
      return 'Told. Go on.';
    default:
      return `Published ${topic}.`;
  }
}

function readArgs(args: string[]): Emission | Complaint {
  const words: string[] = [];
  let payloadJson = false;
  let json = false;
  let flags = true;
  for (const arg of args) {
    if (flags && arg === '--') flags = false;
    else if (flags && arg === '--payload-json') payloadJson = true;
    else if (flags && arg === '--json') json = true;
    else if (flags && /^--?[A-Za-z][\w-]*(=.*)?$/.test(arg)) return unknownFlag(arg);
    else words.push(arg);
  }
  const [topic = '', ...rest] = words;
  // Unquoted words are one text: a question must not be lost to a forgotten quotation mark.
  return checked({ topic, text: rest.join(' '), payloadJson, json });
}

interface Given {
  topic: string;
  text: string;
  payloadJson: boolean;
  json: boolean;
}

/** What can be known to be wrong with it before it is sent. */
export function checked({ topic, text, payloadJson, json }: Given): Emission | Complaint {
  if (topic === '') return { what: 'No topic was given.', why: 'emit needs one.', fix: USAGE };
  if (!/^[A-Za-z0-9][\w.:-]{0,199}$/.test(topic)) {
    return {
      what: `"${topic.slice(0, 80)}" is not a topic.`,
      why: 'A topic is at most 200 letters, digits, dots, dashes, colons and underscores.',
      fix: 'Put words into the payload: ralph emit build.done "All tests pass"',
    };
  }
  if (topic.startsWith('ralph.') && topic !== 'ralph.result' && topic !== 'ralph.note') {
    return {
      what: `"${topic}" is reserved.`,
      why: 'Topics that begin with "ralph." are spoken to the loop: ralph.result and ralph.note.',
      fix: 'Choose a topic of your own, e.g. build.done.',
    };
  }
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes > MAX_PAYLOAD_BYTES) {
    return {
      what: 'The payload is too long, and nothing was published.',
      why: `It has ${bytes} bytes; at most ${MAX_PAYLOAD_BYTES} are carried.`,
      fix: 'Write it to a file in the repository and publish the path.',
    };
  }
  const payload = payloadJson ? parsed(text) : text;
  if (payload === undefined) {
    return {
      what: 'The payload is not JSON, and nothing was published.',
      why: '--payload-json was given, and the text could not be read as one JSON value.',
      fix: 'Put the JSON into single quotes, or leave --payload-json out to send plain text.',
    };
  }
  return missingWords(topic, payload) ?? { topic, payload, json };
}

/** The two topics that mean nothing when they are empty. */
function missingWords(topic: string, payload: unknown): Complaint | null {
  if (topic === 'ralph.result' && !isResult(typeof payload === 'string' ? parsed(payload) : payload)) {
    return {
      what: 'This is no result, and nothing was reported.',
      why: 'A result is a JSON object with "status": completed, failed, blocked or paused, or a review\'s "verdict".',
      fix: `ralph emit ralph.result '{"status":"completed","summary":"…"}' --payload-json`,
    };
  }
  if ((topic === 'human.interact' || topic === 'ralph.note') && (payload === '' || payload === null)) {
    return {
      what: `${topic} needs a text, and nothing was published.`,
      why: 'The payload is empty.',
      fix: 'ralph emit human.interact "Decision needed: … Options: (A) … (B) … Default if no response: …"',
    };
  }
  return null;
}

function isResult(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const fields = new Map(Object.entries(value).map(([key, field]) => [key.toLowerCase(), field]));
  return ['status', 'verdict', 'recommendation'].some((name) => typeof fields.get(name) === 'string');
}

function unknownFlag(flag: string): Complaint {
  const near = /^--?(payload|pj|json-payload|payloadjson)/i.test(flag) ? ' Did you mean --payload-json?' : '';
  return {
    what: `"${flag}" is not a flag of emit.${near}`,
    why: 'emit takes --payload-json and --json.',
    fix: 'If it belongs to the payload, put -- in front: ralph emit TOPIC -- TEXT',
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The same bounds as the reader's (a test holds the two together): `*` is one segment, asking is always allowed. */
export function mayPublish(topic: string, publishes: readonly string[] | null): boolean {
  const spoken = ['human.interact', 'interact.progress', 'ralph.result', 'ralph.note'];
  if (publishes === null || spoken.includes(topic)) return true;
  const given = topic.split('.');
  return publishes.some((pattern) => {
    const wanted = pattern.split('.');
    return wanted.length === given.length && wanted.every((part, i) => part === '*' || part === given[i]);
  });
}
