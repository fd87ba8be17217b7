/**
 * The result object: the JSON an agent hands in at the end of a call. Agents write it from memory, so
 * it is read tolerantly: other spellings count, a malformed field is as good as left out, and what
 * cannot be read as a status or a verdict is no result at all.
 */
import type { ClaimedEvidence, ResultDetails, ResultObject, SteerResponse } from './claim.ts';
import { modeNamed, readDetails, TELLING_DETAILS } from './result-details.ts';
import { type Fields, fieldsOf, MAX_ITEMS, plain, readText, readTexts } from './result-fields.ts';

type Status = ResultObject['status'];
type Verdict = NonNullable<ResultObject['verdict']>;
type CriterionResult = ResultObject['criteriaResults'][number];

const STATUSES: Record<string, Status> = {
  completed: 'completed',
  failed: 'failed',
  blocked: 'blocked',
  paused: 'paused',
};
const STATUS_SYNONYMS: Record<string, Status> = {
  complete: 'completed',
  done: 'completed',
  finished: 'completed',
  success: 'completed',
  successful: 'completed',
  succeeded: 'completed',
  ok: 'completed',
  passed: 'completed',
  fail: 'failed',
  failure: 'failed',
  error: 'failed',
  errored: 'failed',
  rejected: 'failed',
  stuck: 'blocked',
  blocker: 'blocked',
  pause: 'paused',
  inprogress: 'paused',
  incomplete: 'paused',
  partial: 'paused',
  unfinished: 'paused',
  decide: 'paused',
  needsdecision: 'paused',
  needsinput: 'paused',
  question: 'paused',
};
const QUALIFIED = ['qualified', 'pass', 'passed', 'approve', 'approved', 'accept', 'accepted'];
const NOT_QUALIFIED = [
  'failed',
  'fail',
  'notqualified',
  'unqualified',
  'disqualified',
  'reject',
  'rejected',
  'changesrequested',
  'requestchanges',
  'needschanges',
  'needswork',
  'notapproved',
];
const MET = [
  'met',
  'true',
  'yes',
  'y',
  'pass',
  'passed',
  'ok',
  'done',
  'success',
  'satisfied',
  'qualified',
  '✅',
  '✓',
];
const NOT_MET = [
  'notmet',
  'unmet',
  'false',
  'no',
  'n',
  'fail',
  'failed',
  'partial',
  'missing',
  'notsatisfied',
  '❌',
  '✗',
];

/** Fields that show an object to be a result and not, say, the sample answer of a health check. */
const TELLING = [
  'mode',
  'taskid',
  'summary',
  'filesmodified',
  'blockers',
  'question',
  'evidence',
  'verdict',
  'recommendation',
  'recommendationstatus',
  'criteriaresults',
  'feedback',
  'successcriteriamet',
  'steerresponse',
  ...TELLING_DETAILS,
];

/**
 * Reads a result object. `lenient` takes every synonym of a status as it stands; without it a synonym
 * counts only beside another field of a result. Null: this is not a result object. Never throws.
 */
export function readResult(value: unknown, { lenient }: { lenient: boolean }): ResultObject | null {
  const fields = fieldsOf(value);
  if (fields === null) return null;
  const mode = readText(fields.get('mode'));
  const { details, warnings } = readDetails(fields, modeNamed(mode));
  const verdict =
    worse(
      readVerdict(fields.get('verdict')),
      readVerdict(fields.get('recommendation') ?? fields.get('recommendationstatus')),
    ) ?? verdictOfSession(details);
  const telling = lenient || TELLING.some((name) => fields.has(name));
  const status = readStatus(fields.get('status'), telling) ?? (verdict === null ? null : 'completed');
  if (status === null) return null;
  return {
    status,
    mode: modeNamed(mode) ?? (mode || null),
    taskId: readText(fields.get('taskid')) || null,
    summary: readText(fields.get('summary')),
    filesModified: readTexts(fields.get('filesmodified')),
    blockers: readTexts(fields.get('blockers')),
    question: readText(fields.get('question')) || null,
    evidence: readEvidence(fields.get('evidence')),
    verdict,
    criteriaResults: readCriteria(fields.get('criteriaresults')),
    feedback: readText(fields.get('feedback')),
    successCriteriaMet: readSuccess(fields),
    ...steerResponse(fields.get('steerresponse')),
    ...(details === null ? {} : { details }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** A review of the session that names no verdict has given one by its assessment. */
function verdictOfSession(details: ResultDetails | null): Verdict | null {
  if (details?.role !== 'reviewer' || details.assessment === undefined) return null;
  return details.assessment === 'Complete' ? 'Qualified' : 'Failed';
}

const STEER_RESPONSES: Record<string, SteerResponse> = {
  restart: 'restart',
  restarted: 'restart',
  adjust: 'adjust',
  adjusted: 'adjust',
  scopechange: 'scope_change',
  scopechanged: 'scope_change',
};

function steerResponse(value: unknown): Pick<ResultObject, 'steerResponse'> {
  const word = typeof value === 'string' ? plain(value) : '';
  const said = Object.hasOwn(STEER_RESPONSES, word) ? STEER_RESPONSES[word] : undefined;
  return said === undefined ? {} : { steerResponse: said };
}

/** The worse of two verdicts; null says nothing. */
export function worse(a: Verdict | null, b: Verdict | null): Verdict | null {
  if (a === 'Failed' || b === 'Failed') return 'Failed';
  return a ?? b;
}

function readStatus(value: unknown, telling: boolean): Status | null {
  if (typeof value !== 'string') return null;
  const word = plain(value);
  if (Object.hasOwn(STATUSES, word)) return STATUSES[word] ?? null;
  return telling && Object.hasOwn(STATUS_SYNONYMS, word) ? (STATUS_SYNONYMS[word] ?? null) : null;
}

function readVerdict(value: unknown): Verdict | null {
  const inner = fieldsOf(value);
  const said = inner === null ? value : (inner.get('status') ?? inner.get('verdict'));
  if (typeof said !== 'string') return null;
  const word = plain(said).replace(/[.!*`"']/g, '');
  if (NOT_QUALIFIED.includes(word)) return 'Failed';
  return QUALIFIED.includes(word) ? 'Qualified' : null;
}

/** Pieces of evidence, however they are spelled; what says nothing is left out. Bounded. Never throws. */
export function readEvidence(value: unknown): ClaimedEvidence[] {
  const list = Array.isArray(value) ? value : value === undefined ? [] : [value];
  const evidence: ClaimedEvidence[] = [];
  for (const item of list.slice(0, MAX_ITEMS)) {
    if (typeof item === 'string' && item.trim() !== '') {
      evidence.push({ criterion: '', kind: 'text', value: readText(item) });
    }
    const fields = fieldsOf(item);
    if (fields === null) continue;
    const text = readText(
      fields.get('value') ?? fields.get('command') ?? fields.get('file') ?? fields.get('commit'),
    );
    if (text === '') continue;
    const exitCode = Number(fields.get('exitcode') ?? Number.NaN);
    evidence.push({
      criterion: readText(fields.get('criterion')),
      kind: readText(fields.get('kind')) || guessKind(fields),
      value: text,
      ...(Number.isInteger(exitCode) ? { exitCode } : {}),
    });
  }
  return evidence;
}

function guessKind(fields: Fields): string {
  for (const kind of ['command', 'file', 'commit']) if (fields.has(kind)) return kind;
  return 'text';
}

function readMet(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return null;
  const word = plain(value).replace(/[.!*`"']/g, '');
  if (NOT_MET.includes(word)) return false;
  return MET.includes(word) ? true : null;
}

/** An array of objects, or a map from the criterion to true, a word or an object. */
function readCriteria(value: unknown): CriterionResult[] {
  const rows: [string, unknown][] = Array.isArray(value)
    ? value.slice(0, MAX_ITEMS).map((row) => ['', row])
    : typeof value === 'object' && value !== null
      ? Object.entries(value).slice(0, MAX_ITEMS)
      : [];
  const results: CriterionResult[] = [];
  for (const [key, row] of rows) {
    const result = readCriterion(key, row);
    if (result !== null) results.push(result);
  }
  return results;
}

function readCriterion(key: string, row: unknown): CriterionResult | null {
  const fields = fieldsOf(row);
  if (fields === null) {
    const met = readMet(row);
    return key === '' || met === null ? null : { criterion: key, met, note: '' };
  }
  const met = readMet(
    fields.get('met') ??
      fields.get('passed') ??
      fields.get('status') ??
      fields.get('result') ??
      fields.get('verdict'),
  );
  if (met === null) return null;
  const criterion = readText(fields.get('criterion') ?? fields.get('name') ?? fields.get('id')) || key;
  const note = readText(
    fields.get('note') ??
      fields.get('notes') ??
      fields.get('evidence') ??
      fields.get('reason') ??
      fields.get('detail'),
  );
  return { criterion, met, note };
}

function readSuccess(fields: Fields): boolean | null {
  const said = readMet(fields.get('successcriteriamet'));
  if (said !== null) return said;
  const notMet = Number(fieldsOf(fields.get('criteriabreakdown'))?.get('notmet') ?? Number.NaN);
  return notMet > 0 ? false : null;
}
