import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { skillFolders } from './skills.ts';

let root: string;
let told: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ralph-skills-'));
  told = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(folder: string, text: string | Uint8Array): void {
  mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, folder, 'SKILL.md'), text);
}
const look = (...dirs: string[]) =>
  skillFolders({ dirs, projectDir: root, home: join(root, 'home'), warn: (text) => void told.push(text) });
const lines = async (...dirs: string[]) =>
  (await look(...dirs)()).map(({ name, about }) => `${name}: ${about}`);

test('a skill is named by its front matter, else by its folder and its first line', async () => {
  put('skills/a', '---\nname: release\ndescription: "How: slowly"\n---\nText');
  put('skills/b', '---\ndescription: A colon: unquoted\n---\n');
  put('skills/c', '\n# Deploy\n\nText');
  put('skills/d', '---\nname: ../../etc/passwd\n---\nwords');
  expect(await lines('skills')).toEqual([
    'release: How: slowly',
    'b: A colon: unquoted',
    'c: Deploy',
    'd: words',
  ]);
});

test('the first folder that has a name keeps it; home and linked folders are looked into', async () => {
  put('skills/x', 'ours');
  put('home/.copilot/skills/x', 'theirs');
  put('elsewhere/y', 'linked');
  symlinkSync(join(root, 'elsewhere/y'), join(root, 'home/.copilot/skills/y'));
  expect(await lines('skills', '~/.copilot/skills')).toEqual(['x: ours', 'y: linked']);
});

test('what is no skill is passed over: no text, no file, an odd name', async () => {
  put('skills/bin', new Uint8Array([0, 1]));
  put('skills/-rf', 'odd');
  mkdirSync(join(root, 'skills/dir/SKILL.md'), { recursive: true });
  writeFileSync(join(root, 'skills/README.md'), 'x');
  expect(await lines('skills')).toEqual([]);
});

test('a missing folder is told once; the usual ones may be missing', async () => {
  const list = look('skills', '~/.copilot/skills', 'gone');
  await list();
  await list();
  expect(told).toEqual(['skills.dirs: gone cannot be read; the run goes on without.']);
});
