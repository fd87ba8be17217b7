/** Make and just: files of named recipes. They fill what the language's own tools did not say. */
import type { Folder } from './folder.ts';
import { type Finding, type GateName, gate, NOTHING } from './proposal.ts';

const RECIPES: Record<GateName, string[]> = {
  typecheck: ['typecheck', 'type-check', 'types'],
  lint: ['lint'],
  test: ['test', 'tests', 'check'],
  build: ['build'],
};

const RUNNERS = [
  {
    program: 'make',
    files: ['GNUmakefile', 'makefile', 'Makefile'],
    // A target before a colon that is no assignment; several may share a line.
    recipe: /^([A-Za-z0-9_. -]+?)\s*::?(?!=)/gm,
  },
  {
    program: 'just',
    files: ['justfile', 'Justfile', '.justfile'],
    recipe: /^@?([A-Za-z_][\w-]*)(?:[ \t]+[^:\n]*)?:(?!=)/gm,
  },
];

/** Which recipes of a Makefile or justfile are named like a gate. */
export function lookAtTaskRunners(folder: Folder): Finding[] {
  return RUNNERS.map(({ program, files, recipe }) => {
    const file = files.find((name) => folder.has(name));
    const text = file === undefined ? null : folder.read(file);
    if (file === undefined || text === null) return NOTHING;
    const recipes = new Set([...text.matchAll(recipe)].flatMap((match) => match[1]!.split(/\s+/)));
    const gates = (Object.keys(RECIPES) as GateName[]).flatMap((name) => {
      const found = RECIPES[name].find((each) => recipes.has(each));
      return found === undefined
        ? []
        : [gate(name, `${program} ${found}`, `${file} has a recipe "${found}"`)];
    });
    return { kind: `recipes in ${file}`, gates, notes: [] };
  });
}
