/** `ralph config`: what is in force, where each value came from, and the schema that editors use. */
import type { Command } from 'commander';
import { Problem, problemText } from '../core/index.ts';
import { type KeyOptions, keyFlags, keyOptions } from './flags.ts';
import { answer, type Common, common, folderOf } from './io.ts';

interface ConfigOptions extends Common, KeyOptions {
  origin?: boolean;
  schema?: boolean;
  session?: string;
}

export function configCommands(program: Command, done: (code: number) => void): void {
  const command = common(
    program.command('config').description('the settings in force, and where each of them came from'),
    'ralph config --origin',
  )
    .option('--origin', 'every key with its value and the file and line, variable or flag that set it')
    .option('--schema', 'the JSON Schema of ralph.yml, for editors')
    .option('--session <id>', "with the guardrails of this session's instructions; default: the open one");
  keyOptions(command).action(async (options: ConfigOptions) => {
    await show(options);
    done(0);
  });
}

async function show(options: ConfigOptions): Promise<void> {
  if (options.origin && options.schema) throw both();
  const { configSchemaText, showConfig } = await import('../app/index.ts');
  if (options.schema) {
    process.stdout.write(await configSchemaText());
    return;
  }
  const { settings, origins, warnings, notYet } = await showConfig({
    cwd: folderOf(options),
    env: process.env,
    flags: keyFlags(options),
    session: options.session ?? null,
  });
  // Beside the answer, so that a program still reads one JSON value.
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
  for (const problem of notYet) process.stderr.write(`${problemText(problem)}\n`);
  const { data, text } = options.origin ? origins : settings;
  answer(options, data, text);
}

const both = (): Problem =>
  new Problem({
    code: 'usage.value',
    what: '--origin and --schema are two questions.',
    why: 'One tells what is in force here, the other what could stand in any ralph.yml.',
    fix: 'Ask for one of them.',
  });
