import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { missingIdentity } from './identity.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'identity-'));
  mkdirSync(join(folder, 'home', '.config', 'git'), { recursive: true });
  execFileSync('git', ['init', '-q', join(folder, 'p')]);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const NAMED = '[user]\n\tname = Ada\n\temail = ada@example.com\n';

// Without user.useConfigOnly git may guess from the machine, which differs from one to the next.
const STRICT = '[user]\n\tuseConfigOnly = true\n';

it.each<[string, { files?: Record<string, string>; env?: Record<string, string> }]>([
  ['nowhere', {}],
  ['in the repository', { files: { 'p/.git/config': NAMED } }],
  ['in the home folder', { files: { 'home/.gitconfig': NAMED } }],
  ['in the configuration folder', { files: { 'home/.config/git/config': NAMED } }],
  [
    'in two places',
    { files: { 'home/.gitconfig': '[user]\nname=A\n', 'p/.git/config': '[user]\nemail=a@b\n' } },
  ],
  ['as a name of dots', { files: { 'p/.git/config': '[user]\nname = ...\nemail = a@b\n' } }],
  ['taken back', { files: { 'home/.gitconfig': NAMED, 'p/.git/config': '[user]\nname =\n' } }],
  ['beside a torn file', { files: { 'home/.gitconfig': NAMED, 'p/.git/config': '[user\n' } }],
  ['beside an empty committer', { files: { 'p/.git/config': `${NAMED}[committer]\nname =\n` } }],
  ['in the environment', { env: { GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@b' } }],
  ['emptied by the environment', { files: { 'p/.git/config': NAMED }, env: { GIT_COMMITTER_NAME: '' } }],
  ['in a file of its own', { files: { own: NAMED }, env: { GIT_CONFIG_GLOBAL: 'own' } }],
  [
    'in a file that is passed over',
    { files: { 'home/.gitconfig': NAMED }, env: { GIT_CONFIG_GLOBAL: '/dev/null' } },
  ],
])('an identity written %s is known exactly when git knows it', async (_, { files = {}, env = {} }) => {
  const own = env.GIT_CONFIG_GLOBAL === 'own' ? { GIT_CONFIG_GLOBAL: join(folder, 'own') } : {};
  const plain = { PATH: process.env.PATH!, HOME: join(folder, 'home'), ...env, ...own };
  const root = join(folder, 'p');
  writeFileSync(join(root, '.git', 'config'), STRICT, { flag: 'a' });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { flag: 'a' });
  const known = (() => {
    try {
      execFileSync('git', ['var', 'GIT_COMMITTER_IDENT'], { cwd: root, env: plain, stdio: 'pipe' });
      return true;
    } catch {
      return false;
    }
  })();
  expect((await missingIdentity({ root, commonDir: join(root, '.git') }, plain)) === null).toBe(known);
});
