/**
 * A key that is accepted must bind. Which keys do is not believed but looked up: each key is changed, what
 * changes with it in the settings and the policy is followed to its declaration, and the program is
 * searched, by the compiler, for a place outside config/ that reads it. The list of keys that bind
 * nowhere (config/not-yet.ts) must be exactly what is left.
 */
import { relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import ts from 'typescript';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { notYetRow } from '../src/config/not-yet.ts';
import { isMapping, pathText, settingPaths, valueAt } from '../src/config/path.ts';
import { toPolicy } from '../src/config/policy.ts';
import { EXAMPLES } from '../src/config/reference-examples.ts';
import { configSchema } from '../src/config/schema.ts';
import { type Settings, toSettings } from '../src/config/settings.ts';
import type { Policy } from '../src/core/index.ts';
import { ROOT, sourcesIn } from './tidy/sources.ts';

// Every file of the product is read and asked for each key.
vi.setConfig({ testTimeout: 120_000 });

const FACTS = {
  reviewedList: false,
  listGates: [],
  interactive: false,
  channels: [{ name: 'telegram', answers: true }],
  agent: 'a',
};

/** What the house sees of a configuration in which only these keys are set. */
function seen(data: Record<string, unknown>): { settings: Settings; policy: Policy } {
  const isSet = (key: string) => valueAt(data, key.split('.')) !== undefined;
  const settings = toSettings(configSchema.parse(data), {}, isSet);
  return { settings, policy: toPolicy(settings, FACTS) };
}

/** A document with this key alone, set to the value of its example, which is none of the defaults. */
function changed(path: string[]): Record<string, unknown> {
  const text = EXAMPLES[path[0]!] ?? EXAMPLES[''] ?? '';
  // A webhook is one thing: it has no part without its address.
  const place = path.slice(0, pathText(path).startsWith('channels.webhook') ? 2 : undefined);
  const value: unknown = valueAt(parse(text), place);
  return place.reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as Record<string, unknown>;
}

/** What must be set beside a key before it can show: a team that plans, the mode it times, its own name. */
const BESIDE: [RegExp, Record<string, unknown>][] = [
  [/^parallel\./, { team: 'full' }],
  [/^modes\.speed$/, { mode: 'speed' }],
  [/^modes\.quality$/, { mode: 'quality' }],
  [/^teams$/, { team: 'careful' }],
  [/^default_role$/, { roles: { first: {}, builder: {} } }],
];

/** Places at which two values differ. */
function differences(a: unknown, b: unknown, path: string[] = []): string[][] {
  if (isMapping(a) && isMapping(b)) {
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...keys].flatMap((key) => differences(a[key], b[key], [...path, key]));
  }
  return isDeepStrictEqual(a, b) ? [] : [path];
}

const program = ts.createProgram(
  sourcesIn('src')
    .map(({ path }) => `${ROOT}/${path}`)
    .filter((path) => !/\.test\.tsx?$|\/test-[^/]+$/.test(path)),
  {
    ...ts.parseJsonConfigFileContent(
      ts.readConfigFile(`${ROOT}/tsconfig.json`, ts.sys.readFile).config,
      ts.sys,
      ROOT,
    ).options,
  },
);
const checker = program.getTypeChecker();

/** Rooms and files that look at the configuration and do not carry it out. */
const LOOKERS = /^src\/(config\/|app\/(agents-list|config|doctor|known|preflight)\.ts|app\/(checks|setup)\/)/;

/** Declarations of every property that the rest of the program reads. */
function readOutside(): Set<ts.Node> {
  const read = new Set<ts.Node>();
  const note = (symbol: ts.Symbol | undefined) => {
    for (const declaration of symbol?.declarations ?? []) read.add(declaration);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) note(checker.getSymbolAtLocation(node.name));
    if (ts.isBindingElement(node) && !node.dotDotDotToken && ts.isObjectBindingPattern(node.parent)) {
      const name = node.propertyName ?? node.name;
      if (ts.isIdentifier(name)) note(checker.getTypeAtLocation(node.parent).getProperty(name.text));
    }
    ts.forEachChild(node, visit);
  };
  for (const file of program.getSourceFiles()) {
    const path = relative(ROOT, file.fileName);
    if (path.startsWith('src/') && !LOOKERS.test(path)) visit(file);
  }
  return read;
}

/** The declaration of the innermost property on the way, in an interface of this file. */
function declarationAt(file: string, name: string, path: string[]): ts.Node | undefined {
  const source = program.getSourceFile(`${ROOT}/${file}`)!;
  const holder = source.statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === name)!;
  let type = checker.getTypeAtLocation(holder);
  let found: ts.Node | undefined;
  for (const step of path) {
    const property = checker.getNonNullableType(type).getProperty(step);
    if (property === undefined) break;
    found = property.declarations?.[0];
    type = checker.getTypeOfSymbol(property);
  }
  return found;
}

test('every key is read outside config/, or is on the list of those that are not carried out yet', () => {
  const read = readOutside();
  const bound: string[] = [];
  const loose: string[] = [];
  const silent: string[] = [];
  for (const path of settingPaths()) {
    const beside = BESIDE.find(([form]) => form.test(pathText(path)))?.[1] ?? {};
    const bare = seen(beside);
    const now = seen({ ...beside, ...changed(path) });
    const places = [
      ...differences(bare.settings, now.settings).map((at) =>
        declarationAt('src/config/settings.ts', 'Settings', at),
      ),
      ...differences(bare.policy, now.policy).map((at) => declarationAt('src/core/policy.ts', 'Policy', at)),
    ];
    if (places.length === 0) silent.push(pathText(path));
    const binds = places.some((place) => place !== undefined && read.has(place));
    (binds ? bound : loose).push(pathText(path));
  }
  expect({ silent, loose, bound: bound.filter((key) => notYetRow(key.split('.')) !== undefined) }).toEqual({
    silent: [],
    loose: settingPaths()
      .filter((path) => notYetRow(path) !== undefined)
      .map(pathText),
    bound: [],
  });
});
