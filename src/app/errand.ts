/**
 * An errand: one attempt of one agent at words of ours, in a session of its own like any other. No list and no team has
 * a part in it, whoever sent it judges what it made, and nobody is waited for. All other settings are those of the place.
 */
import type { Settings } from '../config/index.ts';

export interface Errand {
  agent: string;
}

/** The settings of a place as an errand there goes by them. */
export function onErrand(settings: Settings, { agent }: Errand): Settings {
  return {
    ...settings,
    agent,
    model: settings.agent === agent ? settings.model : null,
    team: 'solo',
    roles: {},
    defaultRole: null,
    fallback: [],
    requiredTopics: [],
    tasks: null,
    onlyTask: null,
    promptFile: null,
    gates: [],
    commit: 'auto',
    limits: { ...settings.limits, maxIterations: 1, maxSubagentRetries: 0 },
    git: true,
    allowDirty: true,
    wait: false,
  };
}
