/**
 * The one list of keys that are read and checked, and that nothing carries out yet. A key that is
 * accepted must bind: until it does, a run refuses any value but the default, with its place.
 * `test/config-binds.test.ts` compares this list with what the code reads.
 */
import { isDeepStrictEqual } from 'node:util';
import { BUILT_IN_ROLES, isOwn, type ProblemFacts } from '../core/index.ts';
import type { WhereIs } from './explain.ts';
import { type Path, pathText, settingPaths, valueAt } from './path.ts';
import { plainConfig } from './plain.ts';
import { meantRole, OVERRIDES, OWN_KEYS } from './roles.ts';
import type { Config } from './schema.ts';

/** `key` with everything below it; `why`: what a person would wrongly rely on. */
interface Row {
  key: string;
  /** Named things, of which the built-in ones have these keys carried out. */
  but?: readonly string[];
  why: string;
}

/** In the order of the file. A key leaves the list when the product carries it out. */
export const NOT_YET: Row[] = [
  { key: 'interventions.live', why: 'Agents are not corrected while they run.' },
  {
    key: 'roles',
    but: OWN_KEYS,
    why: 'Phases have the built-in roles.',
  },
  {
    key: 'hats',
    but: OWN_KEYS,
    why: 'Phases have the built-in roles.',
  },
];

/** The row that holds this key, or undefined for a key that is carried out. `*` stands for a free name. */
export function notYetRow(path: Path): Row | undefined {
  const key = pathText(path);
  return NOT_YET.find((row) => isOrIsBelow(key, row.key) && !isCarriedOut(row, path));
}

function isCarriedOut({ key, but }: Row, path: Path): boolean {
  const below = path.slice(key.split('.').length);
  return but !== undefined && (below.length < 2 || but.includes(String(below[1])));
}

function isOrIsBelow(key: string, above: string): boolean {
  return key === above || key.startsWith(`${above}.`);
}

interface Ground {
  config: Config;
  origin: ReadonlyMap<string, string>;
  whereIs: WhereIs;
}

/** One problem for each row with a value that differs from the default, at the place that set it. */
export function notCarriedOut(ground: Ground): ProblemFacts[] {
  const defaults = plainConfig({});
  return NOT_YET.flatMap((row) =>
    row.but === undefined ? unbound(row, defaults, ground) : unhired(row, row.but, ground),
  );
}

function unbound({ key, why }: Row, defaults: Config | null, { config, origin }: Ground): ProblemFacts[] {
  const differs = (one: string): boolean => {
    const path = one.split('.');
    return !isDeepStrictEqual(valueAt(config, path), valueAt(defaults, path));
  };
  if (!differs(key)) return [];
  const inside = settingPaths()
    .map(pathText)
    .filter((one) => isOrIsBelow(one, key));
  const named = inside.find((one) => one !== key && differs(one)) ?? key;
  const at = [...origin].find(([one, from]) => from !== 'default' && isOrIsBelow(one, named))?.[1];
  const facts = {
    code: 'config.not_available',
    what: `${named} is set, and this version does not carry it out yet`,
    why,
    fix: `Leave ${named} at its default to run without it.`,
  };
  return [at === undefined ? facts : { ...facts, at }];
}

/** What of one's own roles nothing carries out, and what is changed about a built-in one beyond what can be. */
function unhired({ key }: Row, but: readonly string[], { config, whereIs }: Ground): ProblemFacts[] {
  return Object.entries((valueAt(config, [key]) ?? {}) as Config['roles']).flatMap(([name, role]) => {
    const at = (path: Path) => {
      const place = whereIs(path);
      return place === undefined ? {} : { at: place };
    };
    const meant = meantRole(name);
    const own = isOwn({ name, triggers: role.triggers });
    const keys = Object.entries(role)
      .filter(([, value]) => value !== undefined && !isDeepStrictEqual(value, []))
      .map(([part]) => part);
    // Written another way, a built-in role would become one's own, and get every task.
    if (own && meant !== null && meant !== name && keys.every((part) => OVERRIDES.includes(part)))
      return [
        {
          code: 'config.not_available',
          what: `${key}.${name} changes who plays it, and there is no built-in role of that name`,
          why: `As a role of your own it would get every task. Built-in roles are ${BUILT_IN_ROLES.join(', ')}.`,
          fix: `Did you mean ${key}.${meant}? Else give it triggers or instructions.`,
          ...at([key, name]),
        },
      ];
    const can = own ? but : OVERRIDES;
    return keys
      .filter((part) => !can.includes(part))
      .slice(0, 1)
      .map((part) => ({
        code: 'config.not_available',
        what: `${key}.${name}.${part} is set, and this version does not carry it out yet`,
        why: own
          ? 'Topics wake a role of your own; phases have the built-in roles.'
          : `Of the ${name} only ${can.join(', ')} can be changed.`,
        fix: `Remove ${part} to run without it.`,
        ...at([key, name, part]),
      }));
  });
}
