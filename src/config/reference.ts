/**
 * docs/reference/configuration.md, written from the schema, so that the page and the product cannot
 * disagree. Regenerate it with `UPDATE_DOCS=1 npx vitest run src/config`.
 */
import { expectation } from './explain.ts';
import { configJsonSchema, type SchemaNode } from './schema.ts';

/** The example on top of the page; a test loads it. */
const EXAMPLE = `agent: claude
team: pair
tasks: ralph/tasks.json
gates:
  - { name: test, run: "npm test", min_tests: 1 }
  - { name: lint, run: "npm run lint", timeout_s: 120, required: false }
protect: ["test/golden/**"]
limits: { max_iterations: 40, max_stuck: 3, max_time: 2h, max_cost_usd: 20 }
agents:
  mine: { command: ["bash", "agent.sh"] }
`;

const INTRODUCTION = `# Configuration

The project is configured in \`ralph.yml\`, beside the code. Every key is optional; an empty or missing
file means the defaults below. For example:

\`\`\`yaml
${EXAMPLE}\`\`\`

The file is strict: an unknown key, a wrong value or a name that is defined nowhere stops the start with
exit code 5, and every mistake is told at once with its line. The file is parsed, never executed.
Anchors and aliases work. It is UTF-8, at most 1 MB.

## Layers

Later ones win:

1. the defaults,
2. \`ralph.yml\`,
3. the environment: \`RALPH_CONFIG_<KEY>\`, nested keys joined with two underscores, any case, values
   as in YAML (\`RALPH_CONFIG_LIMITS__MAX_STUCK=5\`); \`RALPH_TELEGRAM_BOT_TOKEN\` and
   \`RALPH_TELEGRAM_API_URL\`; an empty variable is an unset one,
4. flags of the command line. \`--gate\` adds a gate and takes none away.

\`ralph run --dry-run\` reads all of them, checks what must hold before a start, and says what would be
done.

## Agents

Available now: \`claude\` (Claude Code), and any command of your own, named under \`agents\` as \`mine\` is
above. [What an agent gets and how it reports](agent-contract.md).
`;

/** The whole page as Markdown. */
export function configReference(): string {
  const root = configJsonSchema();
  const singles = Object.entries(root.properties ?? {}).filter(([, node]) => !isSection(node));
  const sections = Object.entries(root.properties ?? {}).filter(([, node]) => isSection(node));
  return [
    INTRODUCTION,
    '## Keys at the top\n',
    table(singles.map(([key, node]) => row(key, node))),
    ...sections.map(([key, node]) => section(key, node)),
  ].join('\n');
}

/** A key with keys of its own: named by the schema, or below names that a person chooses. */
function isSection(node: SchemaNode): boolean {
  return (
    node.properties !== undefined ||
    Boolean(node.additionalProperties) ||
    node.items?.properties !== undefined
  );
}

function section(key: string, node: SchemaNode): string {
  const said = node.description === undefined ? '' : `${node.description}\n\n`;
  if (node.additionalProperties) {
    return `## ${key}\n\n${said}Default: none. Each \`${key}.<name>\` has:\n\n${table(rows(node.additionalProperties, ''))}`;
  }
  if (node.items !== undefined)
    return `## ${key}\n\n${said}Default: none. Each item has:\n\n${table(rows(node.items, ''))}`;
  return `## ${key}\n\n${said}${table(rows(node, ''))}`;
}

/** Rows of a mapping's keys, those of mappings inside it by their longer names. */
function rows(node: SchemaNode, prefix: string): string[] {
  const needed = new Set(node.required ?? []);
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    if (child.properties !== undefined) return rows(child, `${prefix}${key}.`);
    const own = row(`${prefix}${key}`, child, needed.has(key));
    if (child.items?.properties === undefined) return [own];
    return [own, ...rows(child.items, `${prefix}${key}[].`)];
  });
}

function row(key: string, node: SchemaNode, needed = false): string {
  const preset = needed ? 'required' : node.default === undefined ? '–' : `\`${presetText(node.default)}\``;
  const inside = (node.anyOf ?? []).flatMap(({ properties }) => Object.entries(properties ?? {}));
  const further = inside.map(([name, { description }]) => ` \`${name}\`: ${description}`).join('');
  const cells = [`\`${key}\``, `${expectation(node)}`, preset, `${node.description ?? ''}${further}`];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function presetText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value).replaceAll('","', '", "');
}

function table(lines: string[]): string {
  return ['| key | value | default | meaning |', '| --- | --- | --- | --- |', ...lines, ''].join('\n');
}
