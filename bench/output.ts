/** How much memory the runner needs while an agent writes 200 MB. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsdown';
import type { Row, Scale } from './measure.ts';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

export async function outputRows({ quick }: Scale): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), 'ralph-bench-output-'));
  try {
    const program = await bundled(dir);
    return ['text', 'claude-json'].map((format) =>
      outputRow({ program, dir, format, megabytes: quick ? 4 : 200 }),
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function bundled(dir: string): Promise<string> {
  await build({
    config: false,
    entry: { child: join(ROOT, 'bench', 'output-child.ts') },
    cwd: ROOT,
    outDir: dir,
    format: 'esm',
    platform: 'node',
    dts: false,
    logLevel: 'silent',
    outExtensions: () => ({ js: '.mjs' }),
    deps: { alwaysBundle: [/^(?!node:)/] },
  });
  return join(dir, 'child.mjs');
}

interface Output {
  program: string;
  dir: string;
  format: string;
  megabytes: number;
}

function outputRow({ program, dir, format, megabytes }: Output): Row {
  const work = mkdtempSync(join(dir, 'work-'));
  const bytes = megabytes * 1024 * 1024;
  const ran = spawnSync(process.execPath, [program, String(bytes), format, work], { encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`the writing agent failed: ${ran.stderr}`);
  const told = JSON.parse(ran.stdout) as {
    ending: string;
    outputBytes: number;
    logBytes: number;
    peakMb: number;
  };
  if (told.ending !== 'ended' || told.outputBytes < bytes || told.logBytes < bytes) {
    throw new Error(`the output did not come through: ${ran.stdout}`);
  }
  return {
    name: `${megabytes} MB of agent output as ${format}: peak memory`,
    value: told.peakMb,
    unit: 'MB',
    most: 200,
  };
}
