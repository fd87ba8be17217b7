/** One argument as a POSIX shell takes it: as it is where that is safe, else in single quotes. */
export function shellWord(text: string): string {
  return /^[\w./@%+:=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
