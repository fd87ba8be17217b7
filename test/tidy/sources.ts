/** The source files as the compiler reads them: what each imports, its functions, words and comments. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export interface Import {
  /** As written. */
  specifier: string;
  /** Path from the root for a relative import; null for packages and built-ins. */
  target: string | null;
  line: number;
  dynamic: boolean;
  /** Erased by the compiler. */
  typeOnly: boolean;
}

export interface Source {
  /** From the root, with slashes. */
  path: string;
  text: string;
  lines: number;
  tree: ts.SourceFile;
  imports: Import[];
}

export const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path);

function walk(folder: string, found: string[] = []): string[] {
  if (!existsSync(join(ROOT, folder))) return found;
  for (const item of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
    const path = posix.join(folder, item.name);
    if (item.isDirectory() && item.name !== 'node_modules') walk(path, found);
    else if (/\.tsx?$/.test(item.name)) found.push(path);
  }
  return found;
}

/** Every TypeScript file below these folders, in path order. */
export function sourcesIn(...folders: string[]): Source[] {
  return folders
    .flatMap((folder) => walk(folder))
    .map(readSource)
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function readSource(path: string): Source {
  return parseSource(path, readFileSync(join(ROOT, path), 'utf8'));
}

export function parseSource(path: string, text: string): Source {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  const source: Source = { path, text, lines, tree, imports: [] };
  visit(tree, (node) => {
    const found = importOf(source, node);
    if (found !== null) source.imports.push(found);
  });
  return source;
}

export function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

export const lineOf = ({ tree }: Source, node: ts.Node): number =>
  tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;

function importOf(source: Source, node: ts.Node): Import | null {
  const make = (literal: ts.Node | undefined, dynamic: boolean, typeOnly: boolean): Import | null => {
    if (literal === undefined || !ts.isStringLiteral(literal)) return null;
    const specifier = literal.text;
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(source.path), specifier) : null;
    return { specifier, target, line: lineOf(source, node), dynamic, typeOnly };
  };
  if (ts.isImportDeclaration(node)) return make(node.moduleSpecifier, false, isTypeImport(node.importClause));
  if (ts.isExportDeclaration(node)) return make(node.moduleSpecifier, false, isTypeExport(node));
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return make(node.arguments[0], true, false);
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return make(node.argument.literal, false, true);
  }
  return null;
}

function isTypeImport(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.isTypeOnly) return true;
  const named = clause.namedBindings;
  if (clause.name !== undefined || named === undefined || !ts.isNamedImports(named)) return false;
  return named.elements.length > 0 && named.elements.every((element) => element.isTypeOnly);
}

function isTypeExport({ isTypeOnly, exportClause }: ts.ExportDeclaration): boolean {
  if (isTypeOnly) return true;
  if (exportClause === undefined || !ts.isNamedExports(exportClause)) return false;
  return exportClause.elements.length > 0 && exportClause.elements.every((element) => element.isTypeOnly);
}

/** Everything these files lead to, themselves included. */
export function reachableFrom(
  roots: string[],
  sources: Map<string, Source>,
  follow: (found: Import) => boolean = () => true,
): Set<string> {
  const seen = new Set(roots.filter((path) => sources.has(path)));
  for (const path of seen) {
    for (const found of sources.get(path)!.imports) {
      if (found.target !== null && sources.has(found.target) && follow(found)) seen.add(found.target);
    }
  }
  return seen;
}

/** Rings of imports, each told once, as `a → b → a`. Erased imports do not count: they load nothing. */
export function importCycles(sources: Map<string, Source>): string[] {
  const cycles: string[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const trail: string[] = [];
  const enter = (path: string): void => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
      return;
    }
    state.set(path, 'open');
    trail.push(path);
    for (const { target, typeOnly } of sources.get(path)?.imports ?? []) {
      if (target !== null && !typeOnly && sources.has(target)) enter(target);
    }
    trail.pop();
    state.set(path, 'done');
  };
  for (const path of sources.keys()) enter(path);
  return cycles;
}

export interface FunctionSize {
  name: string;
  line: number;
  lines: number;
}

/** Every function with its length; a factory counts without the functions inside it, which count alone. */
export function functionSizes(source: Source): FunctionSize[] {
  const sizes: FunctionSize[] = [];
  const span = (node: ts.Node): number => {
    const { line: first } = source.tree.getLineAndCharacterOfPosition(node.getStart(source.tree));
    const { line: last } = source.tree.getLineAndCharacterOfPosition(node.end);
    return last - first + 1;
  };
  /** Lines of functions that lie directly inside this node. */
  const measure = (node: ts.Node): number => {
    let inner = 0;
    ts.forEachChild(node, (child) => {
      inner += measure(child);
    });
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return inner;
    const lines = span(node);
    sizes.push({ name: functionName(node), line: lineOf(source, node), lines: lines - inner });
    return lines > 1 ? lines : 0;
  };
  measure(source.tree);
  return sizes;
}

function functionName(node: ts.SignatureDeclaration): string {
  if (node.name !== undefined) return node.name.getText();
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) return parent.name.getText();
  return 'a nameless function';
}

/** Every comment with its line. */
export function commentsOf({ text, tree }: Source): { text: string; line: number }[] {
  const found = new Map<number, { text: string; line: number }>();
  visit(tree, (node) => {
    for (const range of [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ]) {
      const line = tree.getLineAndCharacterOfPosition(range.pos).line + 1;
      found.set(range.pos, { text: text.slice(range.pos, range.end), line });
    }
  });
  return [...found.values()];
}

/** The comment at the very top, as plain words; empty when there is none. */
export function headerOf({ text }: Source): string {
  const start = text.startsWith('#!') ? text.indexOf('\n') + 1 : 0;
  const block = /^\s*\/\*\*?([\s\S]*?)\*\//.exec(text.slice(start));
  const lines = block === null ? /^(?:\s*\/\/.*\n)+/.exec(text.slice(start))?.[0] : block[1];
  const marker = block === null ? /^\s*\/\/ ?/ : /^\s*\* ?/;
  return (lines ?? '')
    .split('\n')
    .map((line) => line.replace(marker, '').trim())
    .join(' ')
    .trim();
}

/** What git would keep: tracked files, and new ones that are not ignored. */
export function keptFiles(): string[] {
  const args = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return [...new Set(listed.split('\0'))].filter((path) => path !== '' && existsSync(join(ROOT, path)));
}
