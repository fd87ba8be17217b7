/** `ralph feedback`: what people found wrong with a cycle and want in the next one. */
import type { Command } from 'commander';
import type { FeedbackRequest } from '../app/index.ts';
import { answer, type Common, common, folderOf } from './io.ts';

interface FeedbackOptions extends Common {
  message?: string;
  session?: string;
}

export function feedbackCommand(program: Command, done: (code: number) => void): void {
  common(
    program
      .command('feedback')
      .argument(
        '[files...]',
        'a Markdown file with your words, - for stdin; others lie beside it. Default: an empty form to fill in',
      )
      .description('say what is wrong or wanted: it opens the next cycle of the session'),
    'ralph feedback words.md screenshot.png',
  )
    .option('-m, --message <text>', 'one thing that you want, in a sentence; default: none')
    .option('--session <id>', 'the session, or @loop; default: the open one, else the newest')
    .action((files: string[], options: FeedbackOptions) => feedback(files, options).then(() => done(0)));
}

async function feedback(files: string[], options: FeedbackOptions): Promise<void> {
  const app = await import('../app/index.ts');
  const request: FeedbackRequest = { cwd: folderOf(options), files, stdin: readStdin };
  if (options.session !== undefined) request.session = options.session;
  if (options.message !== undefined) request.wish = options.message;
  const { data, text } = await app.giveFeedback(request);
  answer(options, data, text);
}

/** No more than anybody would say: what is longer is refused anyway. */
const MOST_BYTES = 1024 * 1024;

async function readStdin(): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of process.stdin) {
    parts.push(part as Buffer);
    bytes += (part as Buffer).length;
    if (bytes > MOST_BYTES) break;
  }
  return Buffer.concat(parts);
}
