/**
 * Teams that come with roles: `team: bugfix` lays these keys below the configuration, so that whatever a person
 * says about one of the roles, its agent or its instructions, goes before it, key by key.
 */
interface PresetRole {
  triggers: string[];
  publishes: string[];
  default_publishes?: string;
  max_activations: number;
  instructions: string;
}

interface Preset {
  default_role: string;
  required_topics: string[];
  roles: Record<string, PresetRole>;
}

export const PRESETS: Readonly<Record<string, Preset>> = {
  feature: {
    default_role: 'designer',
    required_topics: ['review.approved'],
    roles: {
      designer: {
        triggers: ['work.start'],
        publishes: ['plan.ready'],
        max_activations: 10,
        instructions:
          'Read the code that the feature touches. Change nothing. Publish plan.ready with the plan: which files change and how, which test proves each wish, what stays out. Prefer the smallest design that does the whole job.',
      },
      builder: {
        triggers: ['plan.ready', 'review.rejected'],
        publishes: ['build.done'],
        default_publishes: 'build.done',
        max_activations: 20,
        instructions:
          'Carry out the plan, or answer every point of the rejection. Write the test first, see it fail, then make it pass. Run the whole test command before you publish build.done, and say in it what you ran and saw.',
      },
      reviewer: {
        triggers: ['build.done'],
        publishes: ['review.rejected', 'review.approved'],
        max_activations: 20,
        instructions:
          'Change no code. Run the tests and use the feature yourself, its odd inputs too. Publish review.rejected with each fault as file, line and what you saw; or, where all of it holds, publish review.approved with what you ran and claim completion.',
      },
    },
  },
  bugfix: {
    default_role: 'reproducer',
    required_topics: ['fix.verified'],
    roles: {
      reproducer: {
        triggers: ['work.start'],
        publishes: ['bug.reproduced'],
        max_activations: 10,
        instructions:
          'Write the smallest test that fails because of the bug, and see it fail. Do not fix anything. Publish bug.reproduced with the command that runs the test, its output, and where you think the cause lies.',
      },
      fixer: {
        triggers: ['bug.reproduced', 'fix.rejected'],
        publishes: ['fix.ready'],
        default_publishes: 'fix.ready',
        max_activations: 20,
        instructions:
          'Find the cause, not the place where it shows, and fix it there. Leave the failing test as it is. Look for the same mistake elsewhere. Publish fix.ready with the cause in one sentence and what you ran.',
      },
      verifier: {
        triggers: ['fix.ready'],
        publishes: ['fix.rejected', 'fix.verified'],
        max_activations: 20,
        instructions:
          'Change no code. Run the test of the bug and the whole test command, and try what the report describes. Publish fix.rejected with what still fails; or publish fix.verified with what you ran and claim completion.',
      },
    },
  },
  review: {
    default_role: 'critic',
    required_topics: ['review.confirmed'],
    roles: {
      critic: {
        triggers: ['work.start', 'review.disputed'],
        publishes: ['review.written'],
        default_publishes: 'review.written',
        max_activations: 10,
        instructions:
          'Review what the objective names and change no code. Write REVIEW.md, or the file the objective names: each finding with file and line, what goes wrong with which input, and how bad it is, the worst first. Where findings were disputed, prove or drop them. Publish review.written.',
      },
      checker: {
        triggers: ['review.written'],
        publishes: ['review.disputed', 'review.confirmed'],
        max_activations: 10,
        instructions:
          'Change nothing. Try to refute every finding of the review by running the code or reading it. Publish review.disputed with the findings that do not hold or lack proof; or, where all hold, publish review.confirmed and claim completion.',
      },
    },
  },
  docs: {
    default_role: 'writer',
    required_topics: ['docs.approved'],
    roles: {
      writer: {
        triggers: ['work.start', 'docs.rejected'],
        publishes: ['docs.written'],
        default_publishes: 'docs.written',
        max_activations: 20,
        instructions:
          'Write for the person who has the problem: what to do first, then why. Check every statement against the code and run every command you show. Change documentation only. Publish docs.written with the files you changed.',
      },
      editor: {
        triggers: ['docs.written'],
        publishes: ['docs.rejected', 'docs.approved'],
        max_activations: 20,
        instructions:
          'Change nothing. Follow the text as a newcomer would: run its commands, open its links, compare it with the code. Publish docs.rejected with each sentence that is wrong, missing or unclear; or publish docs.approved and claim completion.',
      },
    },
  },
};

export function presetOf(team: unknown): Preset | null {
  return typeof team === 'string' && Object.hasOwn(PRESETS, team) ? PRESETS[team]! : null;
}
