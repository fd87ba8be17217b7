/** Runs the program on a real pseudo-terminal, made by `script` of util-linux, and types there as a person would. */
import { execFileSync, spawn } from 'node:child_process';
import { PROGRAM, type Project } from './project.ts';

/** Why there is no pseudo-terminal for tests; null where there is. */
export function whyNoPty(): string | null {
  if (process.platform !== 'linux') return 'needs `script` of util-linux';
  try {
    const version = execFileSync('script', ['--version'], { encoding: 'utf8' });
    return version.includes('util-linux') ? null : 'needs `script` of util-linux';
  } catch {
    return 'needs `script` of util-linux';
  }
}

export interface Terminal {
  /** Everything the terminal was sent so far. */
  readonly screen: string;
  type(keys: string): void;
  /** Waits until this stands on the screen, after what was there at the last `sees`. */
  sees(words: string | RegExp): Promise<void>;
  done: Promise<number | null>;
  /** Ends it; only what this very terminal runs. */
  kill(): void;
}

export interface TerminalOptions {
  env?: Record<string, string>;
  columns?: number;
  /** Runs the shell line in place of the program alone; `$RALPH` is the program. */
  shell?: string;
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/** Starts `ralph <args>` on a terminal of its own. */
export function onTerminal(project: Project, args: string[], options: TerminalOptions = {}): Terminal {
  const { columns = 100 } = options;
  const ralph = [process.execPath, PROGRAM, ...args].map(quoted).join(' ');
  const line = `stty cols ${columns} rows 40; ${options.shell ?? `exec ${ralph}`}`;
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: project.dir,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: project.home,
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      RALPH: ralph,
      ...options.env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let screen = '';
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
  child.stdin.on('error', () => undefined);
  return {
    get screen() {
      return screen;
    },
    type: (keys) => void child.stdin.write(keys),
    async sees(words) {
      const find = () => {
        const rest = screen.slice(seen);
        if (typeof words === 'string') return rest.includes(words) ? rest.indexOf(words) + words.length : -1;
        const found = words.exec(rest);
        return found === null ? -1 : found.index + found[0].length;
      };
      for (let waited = 0; find() < 0; waited += 25) {
        if (waited >= 20_000)
          throw new Error(`never showed ${words}; the end of it is:\n${screen.slice(-3_000)}`);
        await new Promise((done) => setTimeout(done, 25));
      }
      seen += find();
    },
    done: new Promise((resolve) => child.on('close', (code) => resolve(code))),
    kill: () => void child.kill('SIGKILL'),
  };
}
