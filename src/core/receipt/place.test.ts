import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placed } from './place.ts';

const ROOT = { root: '/home/dev/app', cwd: '' };
const inside = (path: string, footing = ROOT) => {
  const place = placed(path, footing);
  return place.kind === 'inside' ? place.paths : place;
};

test('relative, dotted, absolute and backslashed paths are one place', () => {
  for (const path of [
    'src/x.ts',
    './src/x.ts',
    'src/../src//x.ts',
    '/home/dev/app/src/x.ts',
    'src\\x.ts',
    '.\\src\\x.ts',
  ])
    expect(inside(path)).toEqual(['src/x.ts']);
});

test('from a sub-folder the nearer file is meant first', () => {
  const footing = { root: '/home/dev/app', cwd: 'packages/ui' };
  expect(inside('src/x.ts', footing)).toEqual(['packages/ui/src/x.ts', 'src/x.ts']);
  expect(inside('../core/x.ts', footing)).toEqual(['packages/core/x.ts']);
});

test('outside: above the root, a home, another tree; a drive only by the name of the repository', () => {
  expect(placed('../x.ts', ROOT)).toEqual({ kind: 'outside', maybe: null });
  expect(placed('src/../../x.ts', ROOT)).toEqual({ kind: 'outside', maybe: null });
  expect(placed('~/x.ts', ROOT)).toEqual({ kind: 'outside', maybe: null });
  expect(placed('/etc/hosts', ROOT)).toEqual({ kind: 'outside', maybe: null });
  expect(placed('/home/dev/application/x.ts', ROOT)).toEqual({ kind: 'outside', maybe: null });
  expect(placed('D:\\code\\app\\src\\x.ts', ROOT)).toEqual({ kind: 'outside', maybe: 'src/x.ts' });
});

test('a root on a drive is found in any case', () => {
  const footing = { root: 'C:\\Code\\App', cwd: '' };
  expect(inside('c:/code/app/src/x.ts', footing)).toEqual(['src/x.ts']);
  expect(inside('C:\\Code\\App\\src\\x.ts', footing)).toEqual(['src/x.ts']);
});

test('patterns stay patterns, braces become several; brackets of a route do not make one', () => {
  expect(placed('src/**/*.ts', ROOT)).toEqual({ kind: 'pattern', patterns: ['src/**/*.ts'] });
  expect(placed('src/{a,b}.ts', ROOT)).toEqual({ kind: 'pattern', patterns: ['src/a.ts', 'src/b.ts'] });
  expect(inside('app/[id]/page.tsx')).toEqual(['app/[id]/page.tsx']);
});

test('whatever is written, a place inside never climbs out', () => {
  const part = fc.constantFrom('..', '.', 'a', 'b.ts', '', '~', 'C:', '*', '[x]');
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 8 }),
      fc.constantFrom('/', '\\'),
      fc.string(),
      (parts, slash, text) => {
        for (const path of [parts.join(slash), text]) {
          const place = placed(path, { root: '/home/dev/app', cwd: 'a/b' });
          const paths =
            place.kind === 'inside' ? place.paths : place.kind === 'pattern' ? place.patterns : [];
          for (const one of paths) expect(`/${one}/`).not.toMatch(/\/\.\.?\/|^\/\/./);
        }
      },
    ),
  );
});
