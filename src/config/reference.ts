/**
 * docs/reference/configuration.md, written from the schema, so that the page and the product cannot
 * disagree. Regenerate it with `UPDATE_DOCS=1 npx vitest run src/config`.
 */
import { expectation } from './explain.ts';
import { flagFor, variableFor } from './layers.ts';
import { NOT_YET, notYetRow } from './not-yet.ts';
import { EXAMPLES, PAGE_EXAMPLE, PAGE_EXAMPLE_TOML } from './reference-examples.ts';
import { SCHEMA_FILE, schemaComment } from './schema-file.ts';
import { configJsonSchema, type SchemaNode } from './shape.ts';

const INTRODUCTION = `# Configuration

The project is configured in \`ralph.yml\`, beside the code. Every key is optional; an empty or missing
file means the defaults below. For example:

\`\`\`yaml
${PAGE_EXAMPLE}\`\`\`

The same in \`.ralph/ralph.toml\`, which has the same keys; keep one of the two files:

\`\`\`toml
${PAGE_EXAMPLE_TOML}\`\`\`

The files are strict: an unknown key, a wrong value or a name that is defined nowhere stops the start
with exit code 5, and every mistake is told at once with its line ([what each mistake
says](configuration-mistakes.md)). Files are parsed, never executed, UTF-8 and at most 1 MB. In YAML,
anchors and aliases work. TOML has no null: leave the key out.

## Layers

Later ones win:

1. the defaults,
2. your own file for every project: \`$XDG_CONFIG_HOME/ralph/ralph.yml\` or \`ralph.toml\`, where the
   variable is unset \`~/.config/ralph/\`, on Windows \`%APPDATA%\\ralph\\\`,
3. the project's \`ralph.yml\` or \`.ralph/ralph.toml\`,
4. the session's \`.ralph-sessions/<SESSION_ID>.instructions.md\`: its front matter may set
   \`max_parallel_executors\`, \`max_parallel_reviewers\`, \`max_parallel_questioners\`, \`max_cycles\`,
   \`max_subagent_retries\`, \`task_wip_minutes\` and \`max_carry_iterations\`, and nothing else, because an
   agent that plans may write it. What is wrong there is a warning, and the value below it stays,
5. the environment: \`RALPH_CONFIG_<KEY>\`, nested keys joined with two underscores, any case, values
   as in YAML (\`RALPH_CONFIG_LIMITS__MAX_STUCK=5\`); \`RALPH_TELEGRAM_BOT_TOKEN\` and
   \`RALPH_TELEGRAM_API_URL\`; an empty variable is an unset one,
6. flags of the command line. \`--gate\` adds a gate and takes none away.

Sections join key by key (a project can change \`limits.max_stuck\` and keep the user's
\`limits.max_time\`); a list replaces the list below it.

\`ralph config\` prints what is in force, \`ralph config --origin\` every key with where it came from.
Both take the flags of \`ralph run\`, to see what a run with them would have. Tokens and secrets are shown
as \`set (hidden)\`. \`ralph run --dry-run\` also checks what must hold before a start.

## In your editor

\`ralph config --schema\` prints a JSON Schema ([the same file](ralph.schema.json)) with which editors
complete keys and mark mistakes. Keep a copy beside the project's state, and name it in the first line of
the configuration:

\`\`\`sh
mkdir -p .ralph && ralph config --schema > ${SCHEMA_FILE}
\`\`\`

\`\`\`yaml
${schemaComment('ralph.yml')}
\`\`\`

In \`.ralph/ralph.toml\` the line is \`${schemaComment('.ralph/ralph.toml')}\`.

## Agents that come with Ralph

\`claude\` (Claude Code), \`codex\`, \`opencode\`, \`pi\`, \`gemini\`, \`qwen\` and \`copilot\`, and any command of your own, named under \`agents\` as \`mine\` is above.
[What an agent gets and how it reports](agent-contract.md).

## Not carried out yet

These keys are read and checked, and nothing acts on them in this version. A run refuses any value but
the default, so that nobody relies on them. In the tables below they are marked with ◌.

| key | why |
| --- | --- |
${NOT_YET.map(({ key, but, why }) => `| \`${key}\`${but === undefined ? '' : `, but for \`${but.join('`, `')}\``} | ${why} |`).join('\n')}
`;

/** The whole page as Markdown. */
export function configReference(): string {
  const root = configJsonSchema();
  const entries = Object.entries(root.properties ?? {});
  const singles = entries.filter(([, node]) => !isSection(node));
  const sections = entries.filter(([, node]) => isSection(node));
  return [
    INTRODUCTION,
    '## Keys at the top\n',
    table(singles.map(([key, node]) => row(key, node, { above: '' }))),
    example(''),
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
  return `## ${key}\n\n${said}${sectionTable(key, node)}\n${example(key)}`;
}

function sectionTable(key: string, node: SchemaNode): string {
  if (key === 'hats') return 'The keys of each are those of [roles](#roles).\n';
  if (node.additionalProperties) {
    const name = `${key}.<name>`;
    return `Default: none. Each \`${name}\` has:\n\n${table(rows(node.additionalProperties, { above: name, prefix: '' }))}`;
  }
  if (node.items !== undefined) {
    const by = setBy(key).join(', ');
    return `Default: none. Set as a whole by ${by}. Each item has:\n\n${table(rows(node.items, { above: `${key}[]`, prefix: '' }))}`;
  }
  return table(rows(node, { above: key, prefix: '' }));
}

interface Where {
  /** The section's key, for people. */
  above: string;
  /** Keys between the section and the row. */
  prefix: string;
}

/** Rows of a mapping's keys, those of mappings inside it by their longer names. */
function rows(node: SchemaNode, { above, prefix }: Where): string[] {
  const needed = new Set(node.required ?? []);
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    if (child.properties !== undefined) return rows(child, { above, prefix: `${prefix}${key}.` });
    const own = row(`${prefix}${key}`, child, { above, needed: needed.has(key) });
    if (child.items?.properties === undefined) return [own];
    return [own, ...rows(child.items, { above, prefix: `${prefix}${key}[].` })];
  });
}

function row(
  key: string,
  node: SchemaNode,
  { above, needed = false }: { above: string; needed?: boolean },
): string {
  const preset = needed ? 'required' : node.default === undefined ? '–' : `\`${presetText(node.default)}\``;
  const inside = (node.anyOf ?? []).flatMap(({ properties }) => Object.entries(properties ?? {}));
  const further = inside.map(([name, { description }]) => ` \`${name}\`: ${description}`).join('');
  const full = above === '' ? key : `${above}.${key}`;
  const waiting = notYetRow(
    full
      .replace('<name>', '*')
      .replace(/\[.*$/, '')
      .split('.')
      .filter((step) => step !== ''),
  );
  const cells = [
    `${waiting === undefined ? '' : '◌ '}\`${key}\``,
    expectation(node),
    preset,
    setBy(full).join(', ') || 'files',
    `${node.description ?? ''}${further}`,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** The flag and the variable that set a key. Items of lists have none of their own. */
function setBy(key: string): string[] {
  if (key.includes('[]')) return [];
  const path = key.split('.');
  const flag = flagFor(path);
  return [...(flag === null ? [] : [flag]), variableFor(path)].map((one) => `\`${one}\``);
}

function presetText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value).replaceAll('","', '", "');
}

function table(lines: string[]): string {
  const head = [
    '| key | value | default | set by, beside the files | meaning |',
    '| --- | --- | --- | --- | --- |',
  ];
  return [...head, ...lines, ''].join('\n');
}

function example(key: string): string {
  return `\`\`\`yaml\n${EXAMPLES[key] ?? ''}\`\`\`\n`;
}
