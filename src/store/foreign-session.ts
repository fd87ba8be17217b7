/** The texts of a session's folder that another tool left, for whoever reads what they say. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readBounded } from './swap.ts';

const FILE_BYTES = 1024 * 1024;
const FILES_MOST = 20_000;
const DEEPEST = 6;

/** Text by path relative to the folder: Markdown and YAML below `iterations/`, and `metadata.yaml`. No link is followed. */
export async function foreignFiles(dir: string): Promise<Map<string, string>> {
  const paths = ['metadata.yaml'];
  below(dir, 'iterations', paths);
  const files = new Map<string, string>();
  for (const path of paths.sort().slice(0, FILES_MOST)) {
    const bytes = await readBounded(join(dir, path), FILE_BYTES).catch(() => null);
    if (bytes !== null && !bytes.includes(0)) files.set(path, bytes.toString('utf8').replace(/^\uFEFF/, ''));
  }
  return files;
}

function below(dir: string, folder: string, found: string[]): void {
  if (folder.split('/').length > DEEPEST || found.length > FILES_MOST) return;
  let entries: ReturnType<typeof listed>;
  try {
    entries = listed(join(dir, folder));
  } catch {
    return;
  }
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) below(dir, path, found);
    else if (entry.isFile() && /\.(?:md|markdown|ya?ml)$/i.test(entry.name)) found.push(path);
  }
}

const listed = (folder: string) => readdirSync(folder, { withFileTypes: true });
