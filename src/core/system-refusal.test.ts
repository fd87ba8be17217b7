/** Refusals of the system, told as what they are. */
import { expect, test } from 'vitest';
import { refusalIn, refusalOf, systemProblem } from './system-refusal.ts';

const refused = (code: string, syscall: string, path?: string) =>
  Object.assign(new Error(`${code}: no, ${syscall}`), {
    code,
    syscall,
    ...(path === undefined ? {} : { path }),
  });

test.each([
  ['ENOSPC', 'full', 'Free some space', 70],
  ['EDQUOT', 'quota', 'quota raised', 70],
  ['EIO', 'error of its own', 'log', 70],
  ['EROFS', 'mounted read-only', 'Mount it', 5],
  ['EACCES', 'no right', 'right to it', 5],
  ['EPERM', 'another user', 'right to it', 5],
  ['ENOTDIR', 'a file lies where a folder has to be', 'Move that file away', 5],
  ['EISDIR', 'a folder lies where a file has to be', 'Move that folder away', 5],
  ['EMFILE', 'ulimit -n', 'Raise that limit', 5],
  ['ENFILE', 'on this machine', 'limit of the machine', 5],
])('%s says why and what to do, and only a disk is told as one', (code, why, fix, exit) => {
  const problem = systemProblem(refused(code, 'write', '/p/.ralph/journal.jsonl'));
  expect(problem?.facts.what).toBe('/p/.ralph/journal.jsonl could not be written.');
  expect(problem?.facts.why.toLowerCase()).toContain(why.toLowerCase());
  expect(problem?.facts.why).toContain(code);
  expect(problem?.facts.fix).toContain(fix);
  expect(problem?.facts.fix.includes('free') || problem?.facts.fix.includes('Free')).toBe(code === 'ENOSPC');
  expect(problem?.exitCode).toBe(exit);
});

test('what was tried is named', () => {
  const what = (syscall: string, code = 'EACCES') => systemProblem(refused(code, syscall, '/f'))?.facts.what;
  expect(what('open')).toBe('/f could not be opened.');
  expect(what('open', 'EROFS')).toBe('/f could not be written.');
  expect(what('unlink')).toBe('/f could not be removed.');
  expect(what('scandir')).toBe('/f could not be read.');
});

test('a defect stays one, and so does what is said of a program or a port', () => {
  expect(systemProblem(new TypeError('x is undefined'))).toBeNull();
  expect(systemProblem(refused('ENOENT', 'open', '/f'))).toBeNull();
  expect(systemProblem(refused('EACCES', 'spawn claude', 'claude'))).toBeNull();
  expect(systemProblem(refused('EACCES', 'listen'))).toBeNull();
  expect(systemProblem('EROFS')).toBeNull();
  expect(systemProblem(null)).toBeNull();
});

test('git tells the same in words', () => {
  expect(refusalIn('error: unable to create temporary file: Read-only file system')).toBe('EROFS');
  expect(refusalIn('fatal: write error: No space left on device')).toBe('ENOSPC');
  expect(refusalIn("fatal: Unable to create '/p/.git/index.lock': Permission denied")).toBe('EACCES');
  expect(refusalIn('fatal: Too many open files in system')).toBe('ENFILE');
  expect(refusalIn('fatal: not a git repository')).toBeNull();
  expect(refusalOf({ code: 'toString' })).toBeNull();
});
