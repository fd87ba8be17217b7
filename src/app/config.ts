/**
 * The configuration of a place: the one way every use case reads it, and what `ralph config` shows of
 * it. Built-in agents and readable formats are told to it here, from the registry.
 */
import { join } from 'node:path';
import {
  configLines,
  configText,
  type Flags,
  type Loaded,
  loadConfig,
  originText,
  schemaText,
  shownConfig,
} from '../config/index.ts';
import type { ProblemFacts } from '../core/index.ts';
import { AGENT_OUTPUTS, BUILT_IN_AGENTS } from './agents.ts';
import { namedSession, sessionsHere } from './choose.ts';
import { findPlace, type Place } from './place.ts';
import { learnSecrets } from './secrets.ts';

export interface SettingsRequest {
  place: Place;
  env: NodeJS.ProcessEnv;
  flags: Flags;
  /** The session whose instructions file is a layer; null: none. */
  session: { id: string } | null;
}

/** Reads every layer. Throws a Problem, or `Problems` with all of them. */
export async function loadSettings({ place, env, flags, session }: SettingsRequest): Promise<Loaded> {
  const loaded = await loadConfig({
    projectDir: place.dir,
    env,
    flags,
    agentNames: BUILT_IN_AGENTS,
    agentOutputs: AGENT_OUTPUTS,
    instructions: session === null ? undefined : instructionsOf(place, session.id),
  });
  learnSecrets(loaded.settings);
  const { protect } = loaded.settings;
  if (protect.length === 0) return loaded;
  const { idlePatterns } = await import('./protect.ts');
  return { ...loaded, warnings: [...loaded.warnings, ...idlePatterns(place.dir, protect)] };
}

/** `<SESSION_ID>.instructions.md` beside the session's folder. */
function instructionsOf({ mainDir }: Place, id: string): { path: string; name: string } {
  const name = `.ralph-sessions/${id}.instructions.md`;
  return { path: join(mainDir, name), name };
}

export interface ConfigRequest {
  cwd: string;
  env: NodeJS.ProcessEnv;
  flags: Flags;
  /** null: the newest open session, if there is one. */
  session: string | null;
}

/** The effective configuration as text and as data, secrets hidden. */
export interface ShownConfig {
  settings: { text: string; data: Record<string, unknown> };
  origins: { text: string; data: { key: string; value: unknown; origin: string }[] };
  warnings: string[];
  /** What a run would refuse, because nothing carries it out yet. */
  notYet: ProblemFacts[];
}

/** `ralph config`. Throws a Problem for a configuration that no run would start on. */
export async function showConfig({ cwd, env, flags, session: id }: ConfigRequest): Promise<ShownConfig> {
  const place = await findPlace(cwd);
  const session = id === null ? await openOne(place) : await namedSession(place, id);
  const loaded = await loadSettings({ place, env, flags, session });
  return {
    settings: { text: configText(loaded), data: shownConfig(loaded) },
    origins: { text: originText(loaded), data: configLines(loaded) },
    warnings: loaded.warnings,
    notYet: loaded.notYet,
  };
}

async function openOne(place: Place): Promise<{ id: string } | null> {
  const all = await sessionsHere(place);
  return all.findLast(({ ending }) => ending.code !== 0 && ending.code !== 9) ?? null;
}

/** `ralph config --schema`: the JSON Schema for editors, as text. */
export function configSchemaText(): string {
  return schemaText();
}
