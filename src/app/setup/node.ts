/** A Node project: which package manager it uses, and which of its scripts can prove work. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { type Folder, openFolder } from './folder.ts';
import { type Finding, type GateName, gate, NOTHING, type ProposedGate } from './proposal.ts';

type Manager = 'npm' | 'pnpm' | 'yarn' | 'bun';

const LOCK_FILES: Record<string, Manager> = {
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
};

/** Under which names projects keep the script of a gate, the most usual first. */
const SCRIPTS: Record<GateName, string[]> = {
  typecheck: ['typecheck', 'type-check', 'check-types', 'check:types', 'types', 'tsc'],
  lint: ['lint', 'lint:check', 'eslint'],
  test: ['test', 'test:unit', 'tests', 'unit'],
  build: ['build'],
};

/** Runners whose output tells how many tests ran. */
const COUNTED =
  /\b(?:vitest|jest|mocha|node\s+(?:\S+\s+)*--test|tap|tape|ava|playwright|bun\s+test|react-scripts\s+test)\b/;
/** `npm init` writes this where nobody has written a test. */
const PLACEHOLDER = /no test specified/;
/** A gate that repairs would hide what it should show, and a watcher never ends. */
const CHANGES_FILES = /--fix\b|--write\b/;
const NEVER_ENDS = /--watch(?!\s*=\s*false)\b|(?<!no-)\bwatch\b/;
/** Packages of a workspace that are asked for their scripts. */
const MOST_PACKAGES = 50;

interface Manifest {
  scripts: Record<string, string>;
  packageManager: string;
  workspaces: string[];
}

/** Looks at package.json, the lock files here or in a folder above up to `root`, and the workspace. */
export function lookAtNode(folder: Folder, root: string): Finding {
  if (!folder.has('package.json')) return NOTHING;
  const manifest = readManifest(folder);
  if (manifest === null) {
    return { kind: 'Node project', gates: [], notes: ['package.json cannot be read as JSON.'] };
  }
  const { manager, notes } = managerOf(folder, root, manifest);
  const packages = workspacePackages(folder, manifest);
  const members = packages.length === 0 ? '' : `, workspace of ${packages.length}`;
  const gates: ProposedGate[] = [];
  for (const name of Object.keys(SCRIPTS) as GateName[]) {
    const own = ownGate(manifest, manager, name);
    if (typeof own === 'string') notes.push(own);
    const found = typeof own === 'object' && own !== null ? own : packagesGate(packages, manager, name);
    if (found !== null) gates.push(found);
  }
  return { kind: `Node project (${manager}${members})`, gates, notes };
}

function readManifest(folder: Folder, path = 'package.json'): Manifest | null {
  try {
    const raw = JSON.parse(folder.read(path) ?? '') as Record<string, unknown> | null;
    if (typeof raw !== 'object' || raw === null) return null;
    const { scripts, workspaces, packageManager } = raw;
    const listed = Array.isArray(workspaces)
      ? workspaces
      : (workspaces as { packages?: unknown } | null | undefined)?.packages;
    return {
      scripts: texts(scripts),
      packageManager: typeof packageManager === 'string' ? packageManager : '',
      workspaces: Array.isArray(listed)
        ? listed.filter((each): each is string => typeof each === 'string')
        : [],
    };
  } catch {
    return null;
  }
}

function texts(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** The manager that package.json names, else whose lock file lies nearest; npm where nothing tells. */
function managerOf(folder: Folder, root: string, manifest: Manifest): { manager: Manager; notes: string[] } {
  const named = /^(npm|pnpm|yarn|bun)\b/.exec(manifest.packageManager)?.[1] as Manager | undefined;
  if (named !== undefined) return { manager: named, notes: [] };
  for (let at = folder.dir; ; at = dirname(at)) {
    const files = Object.keys(LOCK_FILES).filter((name) => existsSync(join(at, name)));
    const managers = [...new Set(files.map((name) => LOCK_FILES[name]!))];
    const [manager] = managers;
    if (manager !== undefined) {
      const several = `Lock files of several package managers lie here (${files.join(', ')}); ${manager} is proposed.`;
      return { manager, notes: managers.length > 1 ? [several] : [] };
    }
    if (at === root || dirname(at) === at) return { manager: 'npm', notes: [] };
  }
}

/** A gate from the folder's own scripts; a sentence where there is one that cannot prove anything. */
function ownGate(manifest: Manifest, manager: Manager, name: GateName): ProposedGate | string | null {
  const script = SCRIPTS[name].find((each) => manifest.scripts[each] !== undefined);
  if (script === undefined) return null;
  const line = manifest.scripts[script]!;
  const said = `package.json declares ${JSON.stringify(script)}: ${JSON.stringify(shortened(line))}`;
  if (PLACEHOLDER.test(line)) return 'package.json has no real test script yet, so no test gate is proposed.';
  if (CHANGES_FILES.test(line)) return `${said}, which changes files, so it is not proposed as a gate.`;
  if (NEVER_ENDS.test(line)) return `${said}, which watches and never ends, so it is not proposed as a gate.`;
  return gate(name, runScript(manager, script), said, name === 'test' && COUNTED.test(line) ? 1 : 0);
}

function runScript(manager: Manager, script: string): string {
  return script === 'test' && manager !== 'bun' ? `${manager} test` : `${manager} run ${script}`;
}

const IN_EVERY_PACKAGE: Record<Manager, (script: string) => string> = {
  npm: (script) => `npm run ${script} --workspaces --if-present`,
  pnpm: (script) => `pnpm -r --if-present run ${script}`,
  yarn: (script) => `yarn workspaces run ${script}`,
  bun: (script) => `bun run --filter '*' ${script}`,
};

/** Where the top of a workspace has no script, but its packages have. */
function packagesGate(packages: Manifest[], manager: Manager, name: GateName): ProposedGate | null {
  const [script] = SCRIPTS[name];
  const having = packages.filter(({ scripts }) => {
    const line = scripts[script!];
    return line !== undefined && ![PLACEHOLDER, CHANGES_FILES, NEVER_ENDS].some((each) => each.test(line));
  });
  if (script === undefined || having.length === 0) return null;
  const counted = having.every(({ scripts }) => COUNTED.test(scripts[script]!));
  const why = `${having.length} of the ${packages.length} packages of the workspace declare "${script}"`;
  return gate(name, IN_EVERY_PACKAGE[manager](script), why, name === 'test' && counted ? 1 : 0);
}

/** The packages that the workspace's own patterns name; only `folder` and `folder/*` are looked up. */
function workspacePackages(folder: Folder, manifest: Manifest): Manifest[] {
  const patterns = [...manifest.workspaces, ...pnpmPatterns(folder)].filter((each) => !each.startsWith('!'));
  const paths = patterns.flatMap((pattern) => {
    const plain = pattern.replace(/^\.\//, '').replace(/\/+$/, '');
    if (!plain.includes('*')) return [plain];
    const above = /^([^*]*)\/\*{1,2}$/.exec(plain)?.[1];
    return above === undefined ? [] : folder.names(above).map((name) => `${above}/${name}`);
  });
  const found: Manifest[] = [];
  for (const path of new Set(paths)) {
    if (found.length === MOST_PACKAGES) break;
    const each = openFolder(join(folder.dir, path));
    const one = each.isFile('package.json') ? readManifest(each) : null;
    if (one !== null) found.push(one);
  }
  return found;
}

function pnpmPatterns(folder: Folder): string[] {
  try {
    const raw = parseYaml(folder.read('pnpm-workspace.yaml') ?? '') as { packages?: unknown } | null;
    const listed = raw?.packages;
    return Array.isArray(listed) ? listed.filter((each): each is string => typeof each === 'string') : [];
  } catch {
    return [];
  }
}

function shortened(line: string): string {
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
