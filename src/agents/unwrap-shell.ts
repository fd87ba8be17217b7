/** The command inside `/bin/bash -lc '…'`, as an agent prints what it started. */

/** Only shells of the system: a file of that name in another folder may be anything. */
const WRAPPED = /^(?:(?:\/usr(?:\/local)?)?\/bin\/)?(?:bash|sh|zsh|dash) -l?i?c (.*)$/s;
const PIECE = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)/y;

/** The one word that this shell text is; null where it is more than one or broken. */
function oneWord(quoted: string): string | null {
  let word = '';
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < quoted.length) {
    const piece = PIECE.exec(quoted);
    if (piece === null) return null;
    const [, single, double, escaped, bare] = piece;
    word += single ?? double?.replace(/\\([\\"$`])/g, '$1') ?? escaped ?? bare ?? '';
  }
  return word;
}

/** What stands inside the wrapping, or the whole text where there is none. */
export function unwrapShell(command: string): string {
  const inner = WRAPPED.exec(command)?.[1];
  return (inner === undefined ? null : oneWord(inner)) ?? command;
}
