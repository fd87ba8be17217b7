/** Two short texts side by side, as lines that go and lines that come. */

/** Longer texts are not compared line by line: the table would grow with the product of both lengths. */
const MOST_LINES = 2_000;

/** ` ` the same, `-` only before, `+` only after; equal texts give no line. Unchanged stretches are cut short. */
export function lineDiff(before: string, after: string, context = 1): string[] {
  if (before === after) return [];
  const [a, b] = [linesOf(before), linesOf(after)];
  if (a.length > MOST_LINES || b.length > MOST_LINES) return ['(too long to be compared line by line)'];
  return shortened(marked(a, b), context);
}

function linesOf(text: string): string[] {
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

function marked(a: string[], b: string[]): string[] {
  // common[i][j]: how many lines the rests of both share in order.
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i]![j] =
        a[i] === b[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(` ${a[i++]}`);
      j++;
    } else if (i < a.length && (j === b.length || common[i + 1]![j]! >= common[i]![j + 1]!))
      lines.push(`-${a[i++]}`);
    else lines.push(`+${b[j++]}`);
  }
  return lines;
}

function shortened(lines: string[], context: number): string[] {
  const near = (at: number) =>
    lines.slice(Math.max(0, at - context), at + context + 1).some((line) => !line.startsWith(' '));
  const kept: string[] = [];
  lines.forEach((line, at) => {
    if (near(at)) kept.push(line);
    else if (kept.at(-1) !== ' …') kept.push(' …');
  });
  return kept;
}
