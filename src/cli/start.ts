#!/usr/bin/env node
/**
 * The built program's one entry: loads the chunks beside it, with what V8 made of them the last time. Reading
 * and compiling the way to the first agent costs more than all the rest of a start; a kept compilation spares
 * it. It is a cache and nothing else: V8 refuses what another version made, what is torn is not used, and where
 * this folder cannot be written everything is compiled as ever. Whoever may write it may write the program too.
 */
import {
  accessSync,
  constants as fsConstants,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { cachedDataVersionTag } from 'node:v8';
import { constants, Script } from 'node:vm';
import type * as zlib from 'node:zlib';

/** Commands that may run for hours: what they needed at their start is kept soon after it. */
const LONG = ['run', 'resume', 'demo'];
/** No option and no path. */
const IS_WORD = /^\w[\w-]*$/;
const SOON_MS = 5_000;
/** Sum over everything behind it, length of the index. */
const HEAD = 8;
/** As of every require: libraries try what may be there, and go on without it. */
const NOT_FOUND = { code: 'MODULE_NOT_FOUND' };

/** Loaded only where something is kept: it is not small. */
const sumOf = (bytes: Buffer) => (process.getBuiltinModule('node:zlib') as typeof zlib).crc32(bytes);

type Index = Record<string, [from: number, to: number]>;
type Require = (id: string) => unknown;
type Wrapped = (exports: object, require: Require, module: object, file: string, folder: string) => void;

const word = process.argv[2] ?? '';
const folder = `${__dirname}/.code`;
/** By the tag of V8's version and flags, so that nobody's flags cost the others what they kept. */
const file = `${folder}/${LONG.includes(word) ? 'run' : word}-${process.version}-${cachedDataVersionTag().toString(16)}`;
const kept = readKept();
const loaded = new Map<string, { exports: object }>();
const scripts = new Map<string, Script>();
let isNews = false;

function readKept(): { index: Index; code: Buffer } {
  const none = { index: {}, code: Buffer.alloc(0) };
  if (!IS_WORD.test(word)) return none;
  try {
    const bytes = readFileSync(file);
    if (sumOf(bytes.subarray(4)) !== bytes.readUInt32LE(0)) return none;
    const end = HEAD + bytes.readUInt32LE(4);
    return { index: JSON.parse(bytes.toString('latin1', HEAD, end)), code: bytes.subarray(end) };
  } catch {
    return none; // the first start, or nothing that can be read
  }
}

/** The names of chunks hold a hash of their content; the one without is small, and never kept. */
function compile(name: string): Script {
  const filename = `${__dirname}/${name}`;
  const text = `(function(exports,require,module,__filename,__dirname){"use strict";${readFileSync(filename, 'latin1')}\n})`;
  const [from, to] = kept.index[name] ?? [0, 0];
  const script = new Script(text, {
    filename,
    ...(to > from && { cachedData: kept.code.subarray(from, to) }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (name !== 'main.js') {
    scripts.set(name, script);
    if (to === from || script.cachedDataRejected === true) isNews = true;
  }
  return script;
}

function builtIn(id: string): unknown {
  const found: unknown = process.getBuiltinModule(id);
  if (found === undefined) throw Object.assign(new Error(`Cannot find module '${id}'`), NOT_FOUND);
  return found;
}

function load(id: string): unknown {
  if (!id.startsWith('./')) return builtIn(id);
  const name = id.slice(2);
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  loaded.set(name, module);
  const run = compile(name).runInThisContext() as Wrapped;
  run(module.exports, load, module, `${__dirname}/${name}`, __dirname);
  return module.exports;
}

/** After it ran, so that the functions it called are in it; what other starts needed stays. */
function keep(): void {
  if (!isNews) return;
  isNews = false;
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, fsConstants.W_OK);
    write(contents());
  } catch {
    // Nothing can be kept here, and nothing needs to be.
  }
}

function contents(): Buffer {
  const parts: Buffer[] = [];
  const index: Index = {};
  let end = 0;
  const add = (name: string, code: Buffer) => {
    index[name] = [end, end + code.length];
    // V8 reads what lies at a multiple of eight without copying it.
    const padded = Math.ceil(code.length / 8) * 8;
    parts.push(code, Buffer.alloc(padded - code.length));
    end += padded;
  };
  for (const [name, script] of scripts) add(name, script.createCachedData());
  for (const [name, [from, to]] of Object.entries(kept.index))
    if (!scripts.has(name)) add(name, kept.code.subarray(from, to));
  const words = JSON.stringify(index);
  const head = Buffer.alloc(Math.ceil((HEAD + words.length) / 8) * 8, ' ');
  head.writeUInt32LE(head.length - HEAD, 4);
  head.write(words, HEAD, 'latin1');
  const bytes = Buffer.concat([head, ...parts]);
  bytes.writeUInt32LE(sumOf(bytes.subarray(4)), 0);
  return bytes;
}

function write(bytes: Buffer): void {
  const beside = `${file}.${process.pid}`;
  try {
    writeFileSync(beside, bytes, { flag: 'wx' });
    renameSync(beside, file);
  } catch {
    rmSync(beside, { force: true });
  }
}

if (IS_WORD.test(word)) {
  if (LONG.includes(word)) setTimeout(keep, SOON_MS).unref();
  // What ended otherwise may be no command at all.
  process.on('exit', (code) => {
    if (code === 0 || LONG.includes(word)) keep();
  });
}

load('./main.js');
