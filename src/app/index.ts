/**
 * The door of the use cases. What only looks is loaded at once; what runs, sends or moves is loaded
 * when it is called, because a window should not pay for the configuration and the agents.
 */

import { type HatGraph, landingText, type ProblemFacts, type State } from '../core/index.ts';
import type { BrokenOff } from '../fleet/index.ts';
import type { Knowledge, LoopJson, ProfileJson, StagedNote } from '../views/index.ts';
import type { Archived, ArchiveRequest } from './archive.ts';
import type { Events } from './behaviour.ts';
import type { BlockedView } from './blocked.ts';
import type { BotRequest, BotStatus, OnboardNews } from './bot.ts';
import type { ConfigRequest, ShownConfig } from './config.ts';
import type { DoctorRequest, Examined } from './doctor.ts';
import type { FeedbackRequest } from './feedback.ts';
import type { HatsRequest, HatsView, RoleJson, Validated } from './hats.ts';
import type { ImportChoices, ImportPlan, ImportRequest } from './import.ts';
import type { ShownNote } from './knowledge.ts';
import type { KnownKind, KnownName, KnownWhere } from './known.ts';
import type { FollowRequest, LogRequest } from './logs.ts';
import type { MergeRequest } from './loops/land.ts';
import type { RunRequest } from './plan.ts';
import type { ResumeRequest } from './resume.ts';
import type { RunOutcome } from './run.ts';
import type { SendRequest, Sent } from './send.ts';
import type { Setup } from './setup/init.ts';
import type { KnownTasks, TaskStateRequest } from './task-state.ts';
import type { Unblocked, UnblockRequest } from './unblock.ts';

export { questionsBeside } from './across.ts';
export type { Archived } from './archive.ts';
export type { OnboardNews } from './bot.ts';
export { rowText, verdictText } from './doctor-text.ts';
export { summaryOf } from './ending.ts';
export type { FeedbackRequest } from './feedback.ts';
export type { ImportChoices, ImportPlan, ImportRequest } from './import.ts';
export type { KnownKind, KnownName } from './known.ts';
export type { RunRequest } from './plan.ts';
export type { RunOutcome } from './run.ts';
export type { SendRequest, Sent } from './send.ts';
export type { Setup } from './setup/init.ts';
export type { Unblocked, UnblockRequest } from './unblock.ts';
export { allSessions, openState, openWindow } from './windows.ts';

export async function runLoop(request: RunRequest): Promise<RunOutcome> {
  return (await import('./loops/run.ts')).startRun(request);
}

export async function taskState(request: TaskStateRequest): Promise<KnownTasks> {
  return (await import('./task-state.ts')).taskState(request);
}

export async function dryRun(request: RunRequest): Promise<{ data: Record<string, unknown>; text: string }> {
  return (await import('./dry-run.ts')).dryRun(request);
}

export async function resumeLive(
  request: ResumeRequest,
): Promise<{ session_id: string; outcome: string } | null> {
  return (await import('./resume.ts')).resumeLive(request);
}

export async function send(request: SendRequest): Promise<Sent> {
  return (await import('./send.ts')).send(request);
}

export async function blockedTasks(request: {
  cwd: string;
  env: NodeJS.ProcessEnv;
  session?: string | undefined;
  suggest: boolean;
}): Promise<BlockedView> {
  return (await import('./blocked.ts')).blockedTasks(request);
}

/** Puts a person's words where the next cycle begins with them. */
export async function giveFeedback(request: FeedbackRequest): Promise<{ data: object; text: string }> {
  return (await import('./feedback.ts')).giveFeedback(request);
}

/** Gives tasks their attempts back; the text is for a person. */
export async function unblock(request: UnblockRequest): Promise<{ data: Unblocked; text: string }> {
  const { unblock: carryOut, unblockedText } = await import('./unblock.ts');
  const data = await carryOut(request);
  return { data, text: unblockedText(data) };
}

export async function archive(request: ArchiveRequest): Promise<Archived> {
  return (await import('./archive.ts')).archive(request);
}

export async function followRun(request: FollowRequest): Promise<void> {
  return (await import('./logs.ts')).followRun(request);
}

export async function showLog(request: LogRequest): Promise<void> {
  return (await import('./logs.ts')).showLog(request);
}

/** What a session has noted down, and what earlier ones left in `.docs/`. */
export async function openKnowledge(
  cwd: string,
  session?: string,
): Promise<{ state: State; knowledge: Knowledge }> {
  return (await import('./knowledge.ts')).openKnowledge(cwd, session);
}

export async function findNote(cwd: string, name: string, session?: string): Promise<ShownNote> {
  return (await import('./knowledge.ts')).findNote(cwd, name, session);
}

/** The notes that an open approval is about. */
export async function askedNotes(cwd: string, dir: string, state: State): Promise<StagedNote[]> {
  return (await import('./knowledge.ts')).askedNotes(cwd, dir, state);
}

export async function interventionEvents(cwd: string, session?: string): Promise<Events> {
  return (await import('./behaviour.ts')).interventionEvents(cwd, session);
}

export async function agentProfiles(cwd: string): Promise<{ profiles: ProfileJson[]; lost: string | null }> {
  return (await import('./behaviour.ts')).agentProfiles(cwd);
}

export async function resetInterventions(cwd: string): Promise<{ hidden: number; told: string[] }> {
  return (await import('./reset-behaviour.ts')).resetInterventions(cwd);
}

/** Names of one kind for completions; never throws. */
export async function knownNames(kind: KnownKind, where: KnownWhere): Promise<KnownName[]> {
  return (await import('./known.ts')).known(kind, where);
}

/** Pairs a chat with this project; waits until somebody sends the code. */
export async function onboard(
  request: BotRequest & { tell(news: OnboardNews): void; signal: AbortSignal },
): Promise<void> {
  return (await import('./bot.ts')).onboard(request);
}

export async function botStatus(request: BotRequest): Promise<{ data: BotStatus; text: string }> {
  return (await import('./bot.ts')).botStatus(request);
}

export async function testBot(request: BotRequest): Promise<{ data: unknown; text: string }> {
  return (await import('./bot.ts')).testBot(request);
}

export async function unpairChat(
  request: BotRequest & { chat: number },
): Promise<{ data: unknown; text: string }> {
  return (await import('./bot.ts')).unpair(request);
}

export async function demo(options: { json: boolean }): Promise<number> {
  return (await import('./demo.ts')).demo(options);
}

export async function openSetup(cwd: string, env: NodeJS.ProcessEnv): Promise<Setup> {
  return (await import('./setup/init.ts')).openSetup(cwd, env);
}

export async function discardLoop(
  cwd: string,
  name: string,
  say: (text: string) => void,
): Promise<import('./loops/end.ts').Discarded> {
  return (await import('./loops/end.ts')).discardLoop(cwd, name, say);
}

/** All that may go; `name`: that one only. */
export async function pruneLoops(
  cwd: string,
  name: string | undefined,
  say: (text: string) => void,
): Promise<{
  removed: string[];
  kept: { loop: string; why: string }[];
  ignored_gone: { loop: string; files: string[] }[];
}> {
  return (await import('./loops/end.ts')).pruneLoops(cwd, name, say);
}

/** Throws a Problem where there is no loop of this name. */
export async function requireLoop(cwd: string, name: string, say: (text: string) => void): Promise<void> {
  await (await import('./loops/intact.ts')).loopHere(cwd, name, say);
}

/** Lands a loop now; the code is 8 where it did not land. */
export async function mergeLoop(
  request: Omit<MergeRequest, 'play'>,
): Promise<{ code: number; data: object; text: string }> {
  const [{ mergeLoop: carryOut }, words, { runLoop: play }] = await Promise.all([
    import('./loops/land.ts'),
    import('./loops/landing-words.ts'),
    import('./run.ts'),
  ]);
  const landed = await carryOut({ ...request, play });
  const code = landed.type === 'loop.landed' ? 0 : 8;
  return { code, data: words.landingJson(landed), text: landingText(landed) };
}

export async function listLoops(cwd: string): Promise<{ data: LoopJson[]; text: string; lost: string[] }> {
  return (await import('./loops/list.ts')).listLoops(cwd);
}

/** Landings that were killed and left files half entered, each with where they lie and what completes it. */
export async function brokenLandings(cwd: string): Promise<(BrokenOff & { next: string })[]> {
  return (await import('./loops/list.ts')).brokenLandings(cwd);
}

/** The rows alone, for who looks at something else. */
export async function loopsHere(cwd: string): Promise<LoopJson[]> {
  return (await import('./loops/list.ts')).loopsHere(cwd);
}

export async function showConfig(request: ConfigRequest): Promise<ShownConfig> {
  return (await import('./config.ts')).showConfig(request);
}

export async function listHats(request: HatsRequest): Promise<HatsView<RoleJson[]>> {
  return (await import('./hats.ts')).listHats(request);
}

export async function showHat(request: HatsRequest, name: string): Promise<HatsView<RoleJson>> {
  return (await import('./hats.ts')).showHat(request, name);
}

export async function graphHats(request: HatsRequest): Promise<HatsView<HatGraph>> {
  return (await import('./hats.ts')).graphHats(request);
}

export async function validateHats(request: HatsRequest): Promise<{ data: Validated; text: string }> {
  return (await import('./hats.ts')).validateHats(request);
}

/** The JSON Schema of the configuration, as text. */
export async function configSchemaText(): Promise<string> {
  return (await import('./config.ts')).configSchemaText();
}

export async function examine(request: DoctorRequest): Promise<Examined> {
  return (await import('./doctor.ts')).examine(request);
}

export async function listAgents(
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{ data: unknown[]; text: string; problems: ProblemFacts[] }> {
  return (await import('./agents-list.ts')).listAgents(cwd, env);
}

/** Reads a task list in any dialect and says what would be written, or that one of several lists is to be named. */
export async function planImport(request: ImportRequest): Promise<ImportPlan | ImportChoices> {
  return (await import('./import.ts')).planImport(request);
}

export async function carryOutImport(plan: ImportPlan): Promise<void> {
  return (await import('./import.ts')).carryOutImport(plan);
}

export async function importPreview(plan: ImportPlan): Promise<string> {
  return (await import('./import-text.ts')).importText(plan);
}

/** What came of it: the last words for a person, or with `json` all of it as one value. */
export async function importResult(
  plan: ImportPlan,
  { written, json }: { written: boolean; json: boolean },
): Promise<{ value: Record<string, unknown> | null; told: string }> {
  const { importJson, importedText } = await import('./import-text.ts');
  return { value: json ? importJson(plan, written) : null, told: importedText(plan, written) };
}
