/** The commands that a line of a report says were run, and with what exit code. */
import { RUNNER, SHELL } from './run-words.ts';
import { type Token, tokensOf } from './tokens.ts';

/** A command that a line says was run, and the exit code it had by those words. */
export interface ToldCommand {
  command: string;
  exitCode: number;
}

const RUN_TICK = new RegExp(`\`\\s*${RUNNER.source.slice(1)}`);
/** A command in plain words: "ran npm test (exit code 0)". */
const PLAIN_RUN = new RegExp(
  `\\b(?:ran|executed|running)\\s+(${RUNNER.source.slice(1)}[^\`\n:;,()→]{0,120}?)\\s*(?:[:;,(→–—-]|->|=>|with|and|exit)`,
  'i',
);

/** Whether a line can say at all that a command was run. */
export function mayRun(line: string): boolean {
  return RUN_TICK.test(line) || EXIT.test(line);
}

const GOOD =
  /\b(?:pass|passes|passed|passing|green|succeeds?|succeeded|successful|clean|ok|bestanden|grün|erfolgreich|réussi|réussit|passent|pasa|pasan|exitoso|passa|passano|passaram|groen|geslaagd|przechodzi|прошел|прошёл|прошли|проходит)\b|✅|✓|通过|通過|成功|合格|통과|성공/iu;
const BAD =
  /\b(?:not|n't|fails?|failed|failing|failure|will|should|would|could|must|can|to|please|cannot|if|nicht|kein|ohne|non|pas|sin|sans|no|ne|nie|niet|geen|não|nao|sem)\b|❌|✗|未|没|沒|不|无法|失败|失敗|错|エラー|せん|なかった|ない|못|않|실패|오류|(?:^|[^\p{L}])(?:не|нет|без)(?=[^\p{L}]|$)/iu;
const EXIT = /\bexit(?:ed)?(?: (?:with|code|status))*\s*[:=]?\s*`?(\d{1,3})\b/i;

/** The commands that a line says were run with success, or with the exit code it names; questions say nothing. */
export function commandsIn(whole: string, all: Token[]): ToldCommand[] {
  let [line, tokens] = [whole, all];
  if (/[?？]/.test(whole)) {
    line = whole.replace(/[^.!?。！？]*(?:\.(?=\S)[^.!?。！？]*)*[?？]/g, ' ');
    tokens = tokensOf(line);
  }
  const exits = EXIT.test(line);
  const codes = tokens.flatMap((token) =>
    token.kind === 'code' && (RUNNER.test(token.text) || (exits && SHELL.test(token.text)))
      ? [token.text]
      : [],
  );
  const told: ToldCommand[] = [];
  if (exits && codes.length === 0) {
    const run = PLAIN_RUN.exec(line)?.[1]?.trim();
    const said = run === undefined ? null : outcomeIn(line.slice(line.indexOf(run) + run.length));
    return run !== undefined && said !== null && said !== UNSAID ? [{ command: run, exitCode: said }] : [];
  }
  let end = line.length;
  let said: number | null = null;
  // From the right, because "`a` and `b` pass" says of both what stands behind the second.
  for (const text of codes.toReversed()) {
    const at = line.lastIndexOf(text, end);
    if (at === -1) continue;
    const words = codes.length === 1 ? line.replace(text, ' ') : line.slice(at + text.length, end);
    said = outcomeIn(words) ?? said;
    if (said !== null) told.push({ command: text.replace(/^\$ /, '').slice(0, 300), exitCode: said });
    end = at;
  }
  return told.toReversed().filter(({ exitCode }) => exitCode !== UNSAID);
}

/** A failure without a number says nothing that could be held against anybody. */
const UNSAID = -1;

function outcomeIn(words: string): number | null {
  const exit = EXIT.exec(words);
  if (exit !== null) return Number(exit[1]);
  if (BAD.test(words)) return UNSAID;
  return GOOD.test(words) ? 0 : null;
}
