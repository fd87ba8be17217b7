/** A Python project: who runs its tools (uv, poetry, pdm, pipenv or the plain interpreter), and which it declares. */
import { parse as parseToml } from 'smol-toml';
import type { Folder } from './folder.ts';
import { type Finding, gate, NOTHING, type ProposedGate } from './proposal.ts';

const SIGNS = [
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'requirements.txt',
  'Pipfile',
  'tox.ini',
  'pytest.ini',
  'uv.lock',
  'poetry.lock',
  'pdm.lock',
  'conftest.py',
];

interface Python {
  folder: Folder;
  /** The `[tool]` table of pyproject.toml. */
  tools: Record<string, unknown>;
  /** Everything in which a tool may be named as a dependency. */
  text: string;
  /** Put before each command: `uv run `, or nothing. */
  prefix: string;
  /** Starts a module of the project's interpreter: `uv run python -m`, or `python3 -m`. */
  module: string;
}

/** Looks at the manifests of Python in a folder. */
export function lookAtPython(folder: Folder): Finding {
  const signs = SIGNS.filter((name) => folder.has(name));
  const loose = folder.names().some((name) => /^test_\w+\.py$|^main\.py$|^app\.py$/.test(name));
  if (signs.length === 0 && !loose) return NOTHING;
  const { python, runner, notes } = openPython(folder);
  const found = [testGate(python), lintGate(python), typeGate(python)];
  const gates = found.filter((each): each is ProposedGate => each !== null);
  return { kind: `Python project (${runner})`, gates, notes };
}

function openPython(folder: Folder): { python: Python; runner: string; notes: string[] } {
  const project = folder.read('pyproject.toml') ?? '';
  const others = ['setup.cfg', 'setup.py', 'requirements.txt', 'requirements-dev.txt', 'Pipfile', 'tox.ini'];
  const { tools, notes } = toolsOf(project);
  const runner = runnerOf(folder, tools);
  const prefix = runner === 'pip' ? '' : `${runner} run `;
  const plain = process.platform === 'win32' ? 'python' : 'python3';
  const python: Python = {
    folder,
    tools,
    text: [project, ...others.map((name) => folder.read(name) ?? '')].join('\n'),
    prefix,
    module: prefix === '' ? `${plain} -m` : `${prefix}python -m`,
  };
  return { python, runner, notes };
}

function toolsOf(text: string): { tools: Record<string, unknown>; notes: string[] } {
  try {
    const { tool } = parseToml(text) as { tool?: unknown };
    const isTable = typeof tool === 'object' && tool !== null && !Array.isArray(tool);
    return { tools: isTable ? (tool as Record<string, unknown>) : {}, notes: [] };
  } catch {
    return { tools: {}, notes: ['pyproject.toml cannot be read as TOML.'] };
  }
}

function runnerOf(
  folder: Folder,
  tools: Record<string, unknown>,
): 'uv' | 'poetry' | 'pdm' | 'pipenv' | 'pip' {
  if (folder.has('uv.lock') || tools.uv !== undefined) return 'uv';
  if (folder.has('poetry.lock') || tools.poetry !== undefined) return 'poetry';
  if (folder.has('pdm.lock') || tools.pdm !== undefined) return 'pdm';
  return folder.has('Pipfile') ? 'pipenv' : 'pip';
}

function testGate(python: Python): ProposedGate | null {
  const { folder, tools, text, prefix, module } = python;
  const marks: [boolean, string][] = [
    [tools.pytest !== undefined, 'pyproject.toml configures pytest'],
    [folder.has('pytest.ini'), 'pytest.ini is there'],
    [folder.has('conftest.py') || folder.isFile('tests/conftest.py'), 'conftest.py is there'],
    [/^\[tool:pytest\]|^\[pytest\]/m.test(text), 'setup.cfg or tox.ini configures pytest'],
    [/\bpytest\b/.test(text), 'pytest is among the dependencies'],
  ];
  const said = marks.find(([is]) => is)?.[1];
  if (said !== undefined) {
    return gate('test', prefix === '' ? `${module} pytest -q` : `${prefix}pytest -q`, said, 1);
  }
  const where = ['tests', 'test', ''].find((below) =>
    folder.names(below).some((name) => /^test\w*\.py$/.test(name)),
  );
  if (where !== undefined) {
    const below = where === '' ? '' : ` -s ${where}`;
    return gate(
      'test',
      `${module} unittest discover${below}`,
      `test files lie in ${where || 'this folder'}`,
      1,
    );
  }
  return folder.has('tox.ini') || tools.tox !== undefined
    ? gate('test', `${prefix}tox`, 'tox is configured')
    : null;
}

function lintGate({ folder, tools, text, prefix }: Python): ProposedGate | null {
  if (tools.ruff !== undefined || folder.has('ruff.toml') || folder.has('.ruff.toml'))
    return gate('lint', `${prefix}ruff check .`, 'ruff is configured');
  if (folder.has('.flake8') || /^\[flake8\]/m.test(text))
    return gate('lint', `${prefix}flake8`, 'flake8 is configured');
  return null;
}

function typeGate({ folder, tools, prefix }: Python): ProposedGate | null {
  const mypy = tools.mypy as { files?: unknown; packages?: unknown } | undefined;
  if (mypy !== undefined || folder.has('mypy.ini') || folder.has('.mypy.ini')) {
    const named = mypy?.files !== undefined || mypy?.packages !== undefined;
    return gate('typecheck', `${prefix}mypy${named ? '' : ' .'}`, 'mypy is configured');
  }
  return tools.pyright !== undefined || folder.has('pyrightconfig.json')
    ? gate('typecheck', `${prefix}pyright`, 'pyright is configured')
    : null;
}
