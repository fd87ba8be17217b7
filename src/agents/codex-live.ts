/**
 * How Codex is talked to while it works (`codex app-server`): requests as lines of JSON on stdin. The prompt begins a
 * turn once the thread stands. A message that comes while the model is at work steers the turn: it is given to the
 * model behind the tools it has called, and the program then repeats it with the id it came with. One that comes
 * between two turns begins a further one, and so does one that follows an interrupt, once the turn has ended.
 */
import type { AgentCall } from '../engine/index.ts';
import { approvalPolicy, codexEar } from './codex-permission.ts';
import { type Json, object, parseLine, text } from './json.ts';
import { isAsked, openDesk } from './permission.ts';
import type { LiveInput } from './talk.ts';

/** Looked for before a line is parsed: most lines are long and are none of these. */
const HEARD = /^\{(?:"id":|"method":"(?:turn\/(?:started|completed)"|[^"]+","id":))/;
const MESSAGE = /^\{"method":"item\/\w+".{0,80}"type":"userMessage"/;
/** Not to be told: pieces of what is told in whole afterwards, and what is nothing to us. */
const SPARED = [
  'remoteControl/status/changed',
  'item/agentMessage/delta',
  'item/plan/delta',
  'item/commandExecution/outputDelta',
  'item/fileChange/outputDelta',
  'item/fileChange/patchUpdated',
  'item/reasoning/summaryTextDelta',
  'item/reasoning/summaryPartAdded',
  'item/reasoning/textDelta',
  'turn/diff/updated',
];
/** Id of the request whose answer names the thread. */
export const THREAD = 'thread';

const request = (id: string, method: string, params: object): string =>
  JSON.stringify({ method, id, params });

/** A new thread works where the program was started. With its folder named, Codex would note it as trusted for good. */
function greeting(call: AgentCall): string {
  const { cwd, model, resume } = call;
  const mine = { model, approvalPolicy: approvalPolicy(isAsked(call)), sandbox: 'danger-full-access' };
  return [
    request('greeting', 'initialize', {
      clientInfo: { name: 'ralph', title: 'Ralph', version: '1.0.0' },
      capabilities: { experimentalApi: false, requestAttestation: false, optOutNotificationMethods: SPARED },
    }),
    JSON.stringify({ method: 'initialized' }),
    resume === undefined
      ? request(THREAD, 'thread/start', mine)
      : request(THREAD, 'thread/resume', { threadId: resume, cwd, excludeTurns: true, ...mine }),
  ].join('\n');
}

/** Codex's way to talk, in one run. */
export function codexLive(call: AgentCall): LiveInput {
  let thread = '';
  /** The turn under way; `begun` without an id: it was asked for. */
  let turn = { begun: false, id: '' };
  let interrupting = false;
  const waiting: { said: string; id: string }[] = [];
  const steered = new Map<string, string>();
  const asked = codexEar(openDesk(call));

  /** What can be said of all that waits. */
  function next(): string {
    if (thread === '' || interrupting || waiting.length === 0) return '';
    if (turn.begun && turn.id === '') return '';
    const lines = waiting.splice(0, turn.begun ? waiting.length : 1).map(({ said, id }) => {
      const params = {
        threadId: thread,
        clientUserMessageId: id,
        input: [{ type: 'text', text: said, text_elements: [] }],
      };
      if (!turn.begun) return request(id, 'turn/start', params);
      steered.set(id, said);
      return request(id, 'turn/steer', { ...params, expectedTurnId: turn.id });
    });
    turn.begun = true;
    return lines.join('\n');
  }

  /** A steered message came too late for its turn, or the turn takes none in. */
  function answered(message: Json): string {
    const id = text(message.id);
    if (id === THREAD) thread = text(object(object(message.result).thread).id);
    const said = steered.get(id);
    steered.delete(id);
    if (message.error === undefined || said === undefined) return next();
    waiting.push({ said, id });
    return turn.begun ? '' : next();
  }

  return {
    message(said, id) {
      const first = thread === '' && waiting.length === 0;
      waiting.push({ said, id });
      return first ? greeting(call) : next();
    },
    interrupt(id) {
      if (turn.id === '') return '';
      interrupting = true;
      return request(id, 'turn/interrupt', { threadId: thread, turnId: turn.id });
    },
    taken(line) {
      if (!MESSAGE.test(line)) return null;
      const item = object(object(object(parseLine(line)).params).item);
      return item.type === 'userMessage' ? text(item.clientId) || null : null;
    },
    answer(line, later) {
      if (asked(line, later) || !HEARD.test(line)) return null;
      const message = object(parseLine(line));
      const { method } = message;
      if (method === undefined) return answered(message);
      if (message.id !== undefined) {
        // What it asks beside permission is not answered by anybody.
        return JSON.stringify({
          id: message.id,
          error: { code: -32601, message: 'Nobody is there to ask.' },
        });
      }
      const params = object(message.params);
      if (text(params.threadId) !== thread) return null;
      const ended = method === 'turn/completed';
      if (ended) interrupting = false;
      turn = ended ? { begun: false, id: '' } : { begun: true, id: text(object(params.turn).id) };
      return next();
    },
  };
}
