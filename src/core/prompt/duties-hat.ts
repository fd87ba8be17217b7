/** What a role of one's own is told: its part of the work, and that topics carry the work on. */
import { BOUNDS, type Duties, EVIDENCE, FOREGROUND, HONEST_TESTS, type Scene } from './ground-rules.ts';

export function hat({ task, hat }: Scene): Duties {
  const whole = task === null ? 'work' : task === 'objective' ? 'objective' : 'task';
  return {
    who: `You are ${hat?.name ?? 'one'}, one of several roles that work on this ${whole} in turn. Each does its own part, and topics wake the next.`,
    rules: [
      hat?.woken
        ? 'A topic woke you: it stands under PENDING EVENTS with what its sender wrote. Begin with what it asks for.'
        : `No topic is left that asks for anything, and the ${whole} is still open. Find out where it stands, take the next useful step, or publish the topic that lets the right role go on.`,
      'Do what your role is told below, and leave the parts of other roles to them.',
      'Hand the work on by publishing a topic, with a text that tells the next role all it needs: it sees the repository and your text, and nothing else of this call.',
      `Claim completion only when the whole ${whole} is reached and you have seen it work. To hand on is not to complete.`,
      'Verify what you say by running something, and run the gates listed below yourself before you report. A run that breaks a required gate is returned, and what it published wakes nobody.',
      HONEST_TESTS,
      EVIDENCE,
      BOUNDS,
      FOREGROUND,
    ],
  };
}
