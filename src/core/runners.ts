/**
 * What test runners print, read back: how many tests were executed and which failed. Each reader
 * looks for its own summary and is silent on anything else; skipped and pending tests do not count as executed.
 * Formats are those of the runners' own default and CI reporters.
 */

/** What one runner said. `tests` null: it ran, but its output holds no count. */
export interface RunnerReading {
  tests: number | null;
  /** Names as printed. */
  failing: string[];
}

/** Reads text without colour codes; null: this runner did not print it. */
type Reader = (text: string) => RunnerReading | null;

/** Sums the first group of every match; null where there is none. */
function sum(text: string, pattern: RegExp): number | null {
  let total: number | null = null;
  for (const match of text.matchAll(pattern)) total = (total ?? 0) + Number(match[1]);
  return total;
}

function all(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map((match) => match[1] ?? '');
}

/** Sums what the named counts of a line like `1 failed | 5 passed | 2 skipped` say. */
function countsIn(line: string, names: RegExp): number {
  return sum(line, new RegExp(`(\\d+) (?:${names.source})\\b`, 'g')) ?? 0;
}

/** TAP, and `node --test` in both its reporters. */
const tap: Reader = (text) => {
  const summary = (name: string) => sum(text, new RegExp(`^(?:#|\\u2139) ${name} (\\d+)$`, 'gm'));
  const points = all(text, /^((?:not )?ok\b.*)$/gm);
  const plan = sum(text, /^1\.\.(\d+)\b/gm);
  const [pass, fail] = [summary('pass'), summary('fail')];
  if (pass === null && plan === null) return null;
  const isSkipped = (point: string) => /# (?:skip|todo)/i.test(point);
  const counted = pass === null ? points.filter((point) => !isSkipped(point)).length : pass + (fail ?? 0);
  const notOk = all(text, /^[ \t]*not ok \d+(?: -)? ?(.*)$/gm).filter((name) => !isSkipped(name));
  // The spec reporter: a cross, the name, the duration. Its heading is not a test.
  const crossed = all(text, /^[ \t]*\u2716 (.+?) \([\d.]+ms\)(?: #.*)?$/gm);
  return { tests: counted + (summary('cancelled') ?? 0), failing: [...notOk, ...crossed] };
};

const vitest: Reader = (text) => {
  const lines = all(text, /^[ \t]*Tests {2}(.*\(\d+\))[ \t]*$/gm);
  const hasNone = /^[ \t]*No test files found, exiting with code \d/m.test(text);
  const files = /^[ \t]*Test Files {2}.*\(\d+\)/m.test(text);
  if (lines.length === 0 && !hasNone && !files) return null;
  const tests = lines.reduce((total, line) => total + countsIn(line, /passed|failed/), 0);
  return { tests, failing: all(text, /^[ \t]*FAIL {2}(\S.*)$/gm) };
};

const jest: Reader = (text) => {
  const lines = all(text, /^Tests: {2,}(.*\btotal)[ \t]*$/gm);
  const hasNone = /^No tests found, exiting with code \d/m.test(text);
  if (lines.length === 0 && !hasNone) return null;
  const tests = lines.reduce((total, line) => total + countsIn(line, /passed|failed/), 0);
  const broken = /^[ \t]*\u25cf Test suite failed to run/m.test(text) ? all(text, /^FAIL (\S+)/gm) : [];
  const named = all(text, /^[ \t]*\u25cf (\S.*)$/gm).filter(
    (name) => !/^(?:Test suite failed to run|Console$|Cannot log after|Deprecation|Validation)/.test(name),
  );
  return { tests, failing: [...named, ...broken] };
};

const mocha: Reader = (text) => {
  const passing = sum(text, /^[ \t]*(\d+) passing\b.*$/gm);
  const failed = sum(text, /^[ \t]*(\d+) failing\b.*$/gm);
  if (passing === null && failed === null) return null;
  const list = text.slice(Math.max(0, text.search(/^[ \t]*\d+ failing\b/m)));
  const failing = all(list, /^[ \t]*\d+\) ((?:.*\n){1,8}?.*:)[ \t]*$/gm).map((block) =>
    block
      .split('\n')
      .map((line) => line.trim())
      .join(' > ')
      .replace(/:$/, ''),
  );
  return { tests: (passing ?? 0) + (failed ?? 0), failing };
};

const pytest: Reader = (text) => {
  const verdict = /\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)\b/.source;
  const lines = all(text, new RegExp(`^(?:=+ )?(${verdict}.* in [\\d.]+s.*)$`, 'gm'));
  const hasNone = /\bno tests ran in [\d.]+s/.test(text) || /^collected 0 items\b/m.test(text);
  if (lines.length === 0 && !hasNone) return null;
  const tests = lines.reduce(
    (total, line) => total + countsIn(line, /passed|failed|errors?|xfailed|xpassed/),
    0,
  );
  return { tests, failing: all(text, /^(?:FAILED|ERROR) ([^\s[]+(?:\[.*?\])?)(?= - |$)/gm) };
};

const unittest: Reader = (text) => {
  const ran = sum(text, /^Ran (\d+) tests? in [\d.]+s$/gm);
  if (ran === null) return null;
  const skipped = sum(text, /^(?:OK|FAILED) \(.*\bskipped=(\d+)/gm) ?? 0;
  return { tests: ran - skipped, failing: all(text, /^(?:FAIL|ERROR): (\S+ \(.*\))/gm) };
};

const go: Reader = (text) => {
  const events = [...text.matchAll(/^\{.*"Action":"(pass|fail)".*\}$/gm)].flatMap(([line, action]) => {
    const name = /"Test":"([^"]+)"/.exec(line)?.[1];
    const pack = /"Package":"([^"]+)"/.exec(line)?.[1] ?? '';
    return name === undefined ? [] : { name: `${pack} ${name}`, failed: action === 'fail' };
  });
  const packages = all(text, /^((?:ok|FAIL|\?) *\t.*)$/gm);
  const results = [...text.matchAll(/^([ \t]*)--- (PASS|FAIL): (\S+)/gm)];
  if (events.length === 0 && packages.length === 0 && results.length === 0) return null;
  const broken = all(text, /^FAIL\t(\S+ \[(?:build|setup) failed\])/gm);
  const failing = [
    ...results.filter((match) => match[2] === 'FAIL').map((match) => match[3]!),
    ...events.filter((event) => event.failed).map((event) => event.name),
    ...broken,
  ];
  // Without -v a package prints no count: each that ran its tests stands for at least one.
  const ran = packages.filter(
    (line) => /^(?:ok|FAIL)/.test(line) && !/\[(?:no tests|no test f|build|setup)/.test(line),
  );
  return { tests: Math.max(results.length, events.length, ran.length), failing };
};

const cargo: Reader = (text) => {
  const lines = all(text, /^test result: (.*)$/gm);
  const nextest = sum(text, /^[ \t]*Summary \[.*\]\s+(\d+)(?:\/\d+)? tests? run/gm);
  if (lines.length === 0 && nextest === null) return null;
  const tests = lines.reduce((total, line) => total + countsIn(line, /passed|failed|measured/), nextest ?? 0);
  const failing = [...all(text, /^test (.+) \.\.\. FAILED$/gm), ...all(text, /^[ \t]+FAIL \[.*?\] (.+)$/gm)];
  return { tests, failing };
};

/** RSpec, ExUnit and minitest: `N examples, N failures, N pending`. */
const ruby: Reader = (text) => {
  const pattern =
    /^(?:\d+ (?:doctests?|propert(?:y|ies)), )*(\d+) (?:examples?|runs?|tests?), (?:\d+ assertions?, )?\d+ failures?(.*)$/gm;
  const lines = [...text.matchAll(pattern)];
  if (lines.length === 0) return null;
  const tests = lines.reduce(
    (total, match) => total + Number(match[1]) - countsIn(match[2]!, /pending|skips|skipped|excluded/),
    0,
  );
  const failing = [
    ...[...text.matchAll(/^rspec (\S+?)(?::\d+)?(?:\[[\d:]+\])? # (.*)$/gm)].map(
      (match) => `${match[1]} ${match[2]}`,
    ),
    ...all(text, /^[ \t]*(?:\d+\) )?(?:Failure|Error):\n[ \t]*(\S+#\S+)/gm),
    ...all(text, /^[ \t]+\d+\) (?:test|doctest|property) (.+)$/gm),
  ];
  return { tests: Math.max(0, tests), failing };
};

const phpunit: Reader = (text) => {
  const good = sum(text, /^OK \((\d+) tests?, \d+ assertions?\)/gm);
  const bad = sum(text, /^Tests: (\d+), Assertions: \d+/gm);
  const hasNone = /^No tests executed!/m.test(text);
  if (good === null && bad === null && !hasNone) return null;
  const skipped = sum(text, /^Tests: \d+, Assertions: .*\bSkipped: (\d+)/gm) ?? 0;
  return { tests: (good ?? 0) + (bad ?? 0) - skipped, failing: all(text, /^\d+\) (\S+::.*)$/gm) };
};

const dotnet: Reader = (text) => {
  const lines = all(text, /^[ \t]*(?:Passed|Failed|Skipped)!\s+- (Failed:.*)$/gm);
  const older = sum(text, /^Total tests: (\d+)$/gm);
  const hasNone = /^No test is available in /m.test(text);
  if (lines.length === 0 && older === null && !hasNone) return null;
  const tests = lines.reduce(
    (total, line) => total + (sum(line, /(?:Failed|Passed):\s+(\d+)/g) ?? 0),
    older ?? 0,
  );
  return { tests, failing: all(text, /^[ \t]+Failed ([\w.+`]+(?:\(.*\))?)(?: \[.*\])?$/gm) };
};

/** Maven's surefire and failsafe; Gradle prints a count only when something failed. */
const jvm: Reader = (text) => {
  const lines = all(text, /^(?:\[\w+\] )?(Tests run: .*)$/gm).filter((line) => !/Time elapsed/.test(line));
  const gradle = sum(text, /^(\d+) tests? completed(?:, \d+ failed)?/gm);
  const hasNone = /^(?:\[\w+\] )?No tests (?:to run|were executed)/m.test(text);
  if (lines.length === 0 && gradle === null && !hasNone) return null;
  const ran = lines.reduce(
    (total, line) => total + (sum(line, /run: (\d+)/g) ?? 0) - (sum(line, /Skipped: (\d+)/g) ?? 0),
    0,
  );
  const failing = [
    ...all(text, /^(?:\[ERROR\] +)?([\w.$]+(?:\(.*?\))?)(?: +--)? +Time elapsed: .*<<< (?:FAILURE|ERROR)!/gm),
    ...all(text, /^(\S+ > .+) FAILED$/gm),
  ];
  return { tests: ran + (gradle ?? 0), failing };
};

/** XCTest tells every suite and then all: the largest number is the run. Swift Testing tells one line. */
const swift: Reader = (text) => {
  const suites = all(text, /^[ \t]*Executed (\d+) tests?, with .*failures?/gm).map(Number);
  const swiftTesting = sum(text, /Test run with (\d+) tests?\b.* (?:passed|failed) after/g);
  if (suites.length === 0 && swiftTesting === null) return null;
  const failing = [
    ...all(text, /^Test Case '(.+)' failed/gm),
    ...all(text, /^\S* ?Test (?!run\b|Case\b)(.+) failed after/gm),
  ];
  return { tests: suites.reduce((most, count) => Math.max(most, count), 0) + (swiftTesting ?? 0), failing };
};

const bun: Reader = (text) => {
  const ran = sum(text, /^Ran (\d+) tests? across \d+ files?/gm);
  if (ran === null) return null;
  const skipped = sum(text, /^[ \t]*(\d+) (?:skip|todo)$/gm) ?? 0;
  return { tests: Math.max(0, ran - skipped), failing: all(text, /^(?:\(fail\)|\u2717) (.+)$/gm) };
};

const deno: Reader = (text) => {
  const lines = all(text, /^(?:ok|FAILED) \| (\d+ passed.*)$/gm);
  if (lines.length === 0) return null;
  const tests = lines.reduce((total, line) => total + countsIn(line, /passed|failed/), 0);
  return { tests, failing: all(text, /^(\S.*) \.\.\. FAILED(?: \(.*\))?$/gm) };
};

const ctest: Reader = (text) => {
  const ran = sum(text, /^\d+% tests passed, \d+ tests? failed out of (\d+)/gm);
  const hasNone = /^No tests were found!!!/m.test(text);
  if (ran === null && !hasNone) return null;
  return {
    tests: ran ?? 0,
    failing: all(text, /^[ \t]+\d+ - (.+) \((?:Failed|Timeout|SEGFAULT|.*Exception.*)\)/gm),
  };
};

const playwright: Reader = (text) => {
  if (!/^Running \d+ tests? using \d+ workers?/m.test(text) && !/^Error: No tests found/m.test(text))
    return null;
  const tests = sum(text, /^[ \t]+(\d+) (?:passed|failed|flaky)\b/gm) ?? 0;
  return { tests, failing: all(text, /^[ \t]+\d+\) (\[.+?\] \u203a .+?)(?: \u2500+)?$/gm) };
};

/**
 * A plain count, in words every home-made runner uses; the last one is the whole. Read only where no
 * known runner spoke. `0 failed` alone is what linters print too, and tells no number of tests.
 */
const plain: Reader = (text) => {
  const passed = lastCount(
    text,
    /\b(\d+) (?:tests? |specs? |checks? )?(?:passed|passing|succeeded)\b|\bpassed: *(\d+)/gi,
  );
  const failed =
    lastCount(text, /\b(\d+) (?:tests? |specs? |checks? )?(?:failed|failing)\b|\bfailed: *(\d+)/gi) ?? 0;
  if (passed !== null || failed > 0) return { tests: (passed ?? 0) + failed, failing: [] };
  const saysNone = /\bno tests? (?:files? )?(?:were )?(?:found|ran|run|executed|collected|to run)\b/i.test(
    text,
  );
  return saysNone ? { tests: 0, failing: [] } : null;
};

function lastCount(text: string, pattern: RegExp): number | null {
  const match = [...text.matchAll(pattern)].at(-1);
  return match === undefined ? null : Number(match[1] ?? match[2]);
}

/** By the name of the runner that prints the format first read there. */
const READERS: Record<string, Reader> = {
  tap,
  vitest,
  jest,
  mocha,
  pytest,
  unittest,
  go,
  cargo,
  ruby,
  phpunit,
  dotnet,
  jvm,
  swift,
  bun,
  deno,
  ctest,
  playwright,
};

/** What all runners in one output say together; null: nothing there looks like a test runner. */
export function readRunners(text: string): RunnerReading | null {
  const spoken = Object.values(READERS).flatMap((read) => read(text) ?? []);
  if (spoken.length === 0) return plain(text);
  return {
    tests: spoken.reduce((total, reading) => total + (reading.tests ?? 0), 0),
    failing: spoken.flatMap((reading) => reading.failing),
  };
}
