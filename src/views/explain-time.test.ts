/** The seconds of an attempt, told with every number they come from. */
import { expect, test } from 'vitest';
import { type Policy, reckonTime, type State } from '../core/index.ts';
import { policyOf, taskOf } from '../core/test-facts.ts';
import { explainTime, reckoningText } from './explain-time.ts';

interface Given {
  title?: string;
  acceptance?: string[];
  timeouts?: number;
  grant?: { timeoutS: number | null; multiplier: number } | null;
  timeout?: Partial<Policy['timeout']>;
  ui?: number[];
}

function reckoned({ title = 'Sales', acceptance = [], timeouts = 0, grant = null, timeout, ui = [] }: Given) {
  const policy = policyOf({ timeout: { ...policyOf().timeout, ...timeout } });
  const durations: State['durations'] = { simple: [], medium: [], complex: [], ui_heavy: ui };
  return reckonTime(policy, { def: taskOf('t', { title, acceptance }), timeouts, grant }, durations);
}

const CHART = { acceptance: ['A table', 'A Chart of it'] };
const MINUTES = [7, 1, 2, 3, 4].map((n) => n * 60_000);

test.each<[string, Given, string]>([
  [
    'class, growth and bound',
    { ...CHART, timeouts: 1 },
    "ui_heavy because of 'Chart' in acceptance 2; 900 s × 3.0 × 1.5¹ = 3600 s (max)",
  ],
  [
    'before any timeout',
    { title: 'Do it' },
    'medium because no keyword says otherwise; 900 s × 1.5 = 1350 s',
  ],
  [
    'the lower bound',
    { title: 'Fix it', timeout: { baseS: 20 } },
    "simple because of 'Fix' in the title; 20 s = 60 s (min)",
  ],
  [
    'a factor that was granted',
    { title: 'Fix it', timeouts: 12, grant: { timeoutS: null, multiplier: 2.5 }, timeout: { baseS: 1 } },
    "simple because of 'Fix' in the title; 1 s × 2.5 (granted) × 1.5¹² = 324 s",
  ],
  [
    'seconds that were granted',
    { ...CHART, grant: { timeoutS: 7200, multiplier: 1 } },
    "ui_heavy because of 'Chart' in acceptance 2; 7200 s, granted when it was unblocked",
  ],
  [
    'history beside the heuristic',
    { ...CHART, ui: MINUTES },
    "ui_heavy because of 'Chart' in acceptance 2; 900 s × 3.0 = 2700 s; 90 % of 5 accepted ui_heavy attempts took at most 420 s (adaptive_timeout.learn is off)",
  ],
  [
    'history in its place',
    { ...CHART, ui: MINUTES, timeouts: 1, timeout: { learn: true } },
    "ui_heavy because of 'Chart' in acceptance 2; 420 s (90 % of 5 accepted ui_heavy attempts) × 1.5¹ = 630 s",
  ],
  [
    'without growth',
    { title: 'Fix it', timeouts: 3, timeout: { failureScaling: false } },
    "simple because of 'Fix' in the title; 900 s (mode balanced)",
  ],
])('tells %s', (_name, given, text) => {
  expect(reckoningText(reckoned(given))).toBe(text);
});

test('the same as data, with silence and what was used', () => {
  const time = reckoned({ ...CHART, timeouts: 1 });
  const told = explainTime({ time, wallMs: 3_600_000, idleMs: 600_000, usedMs: 61_000 });
  expect(told).toMatchObject({ timeout_s: 3600, computed_s: 4050, clamped: 'max', complexity: 'ui_heavy' });
  expect(told.text).toMatch(/3600 s \(max\); silent for at most 10m; used 1m 01s$/);
});

test('a journal that does not say why is told as it was', () => {
  const told = explainTime({ time: null, wallMs: 900_000, idleMs: 600_000, usedMs: null });
  expect(told.text).toBe('900 s, as it was granted when it began; silent for at most 10m');
  expect(told).not.toHaveProperty('mode');
});
