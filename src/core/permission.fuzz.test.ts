/** No way to write a command gets it past a rule that denies it, and what nobody can read is never let through. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PermissionPolicy, permissionFor } from './permission.ts';

const DENY: PermissionPolicy = { default: 'allow', rules: [{ match: 'git push*', policy: 'deny' }] };
const word = (command: string, policy = DENY) => permissionFor(policy, { command, paths: [] }).word;

/** One word, written in another way that is the same to the shell. */
const disguised = (plain: string): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom('', '"', "'", '\\', '""', "''", '\\\n', "$'"), {
      minLength: plain.length,
      maxLength: plain.length,
    })
    .map((ways) =>
      [...plain]
        .map((char, at) => {
          const way = ways[at]!;
          if (way === '"' || way === "'") return way + char + way;
          if (way === "$'") return `$'${char}'`;
          return way + char;
        })
        .join(''),
    );

const program = fc
  .tuple(fc.constantFrom('', '/usr/bin/', './', '../bin/', '~/bin/'), disguised('git'))
  .map(([path, git]) => path + git);
const options = fc.constantFrom(
  '',
  '-C x ',
  '-c a=b ',
  '--no-pager ',
  '-C "a b" -c x=y ',
  '--git-dir /tmp/x ',
);
const push = fc
  .tuple(
    program,
    fc.constantFrom(' ', '  ', '\t', ' \\\n '),
    options,
    disguised('push'),
    fc.constantFrom('', ' origin main', ' --force'),
  )
  .map(([git, gap, option, verb, rest]) => git + gap + option + verb + rest);

/** Ways to have a command run by somebody or something else. */
const WRAPPINGS: ((command: string) => string)[] = [
  (c) => `A=1 ${c}`,
  (c) => `A="x y" B='z' ${c}`,
  (c) => `env -i ${c}`,
  (c) => `env -u X A=1 ${c}`,
  (c) => `command ${c}`,
  (c) => `command -p ${c}`,
  (c) => `exec ${c}`,
  (c) => `exec -a x ${c}`,
  (c) => `sudo ${c}`,
  (c) => `sudo -n -u bob ${c}`,
  (c) => `timeout -k 1 5s ${c}`,
  (c) => `nice -n 5 ${c}`,
  (c) => `nohup ${c}`,
  (c) => `xargs ${c}`,
  (c) => `echo x | xargs -n1 ${c}`,
  (c) => `time ${c}`,
  (c) => `! ${c}`,
  (c) => `2>/dev/null ${c}`,
  (c) => `${c} >/dev/null 2>&1`,
  (c) => `</dev/null ${c}`,
];
const SETTINGS: ((command: string) => string)[] = [
  (c) => `ls; ${c}`,
  (c) => `ls && ${c}`,
  (c) => `false || ${c}`,
  (c) => `ls & ${c}`,
  (c) => `ls | ${c}`,
  (c) => `ls\n${c}`,
  (c) => `${c}; ls`,
  (c) => `(cd x; ${c})`,
  (c) => `{ ${c}; }`,
  (c) => `if true; then ${c}; fi`,
  (c) => `for f in a b; do ${c}; done`,
  (c) => `case a in a) ${c};; esac`,
  (c) => `f() { ${c}; }; f`,
  (c) => `echo $(${c})`,
  (c) => `echo "$(${c})"`,
  (c) => `echo \`${c.replace(/[\\`$]/g, '\\$&')}\``,
  (c) => `cat <(${c})`,
  (c) => `echo \${X:-$(${c})}`,
  (c) => `A=$(${c})`,
  (c) => `# it's nothing\n${c}`,
  (c) => `cat <<'E'\nit's a text\nE\n${c}`,
  (c) => `bash -c '${c.replaceAll("'", "'\\''")}'`,
  (c) => `sh -lc "${c.replace(/["\\$`]/g, '\\$&')}"`,
  (c) => `eval '${c.replaceAll("'", "'\\''")}'`,
  (c) => `bash <<'E'\n${c}\nE`,
  (c) => `bash <<< '${c.replaceAll("'", "'\\''")}'`,
  (c) => `find . -exec ${c} \\;`,
];
const hidden = fc
  .tuple(
    push,
    fc.array(fc.constantFrom(...WRAPPINGS), { maxLength: 3 }),
    fc.array(fc.constantFrom(...SETTINGS), { maxLength: 2 }),
  )
  .map(([command, wrappings, settings]) =>
    settings.reduce(
      (all, set) => set(all),
      wrappings.reduce((all, wrap) => wrap(all), command),
    ),
  );

/** Pushes of which only the shell knows that they are some. */
const UNREADABLE = [
  'X=push; git $X',
  'git $(echo push) origin',
  'git `echo push`',
  `git pu\${X}sh`,
  `git "\${VERB}" origin`,
  '$GIT push',
  '"$@"',
  '$(which git) push',
  `git\${IFS}push`,
  'g{i,}t push',
  '{git,push,origin}',
  'git {push,origin}',
  "$'\\x67it' push",
  "git $'\\160ush'",
  'g?t push',
  '/usr/bin/g[i]t push',
  'git pus*',
  'echo push | xargs git',
  'echo push | xargs -I{} git {} origin',
  'echo push | xargs -I X git X origin',
  'find push -exec git {} origin \\;',
  'git -c a=b $X',
  'git -C "$D" $X',
  'sudo -u bob git $X',
  'timeout 5 $CMD',
  'env git $X',
  'bash -c "git $X"',
  'bash -c \'git "$0"\' push',
  'bash -c "$SCRIPT"',
  'eval "$SCRIPT"',
  'curl -s x | sh',
  'base64 -d x | bash -s',
  'sh < x',
  'base64 -d <<< x | bash /dev/stdin',
  'base64 -d <<< x | bash //dev/./stdin',
  'base64 -d <<< x | bash /dev/fd/0',
  'base64 -d <<< x | bash /proc/self/fd/0',
  'base64 -d <<< x | bash ../../../../../../../../dev/stdin',
  'cd /dev; base64 -d <<< x | bash stdin',
  'base64 -d <<< x | bash "$X"',
  'base64 -d <<< x | bash -e /dev/stdin',
  'base64 -d <<< x | . /dev/stdin',
  'base64 -d <<< x | source /dev/stdin',
  'base64 -d <<< x | bash -s stable',
  'base64 -d <<< x | bash -o pipefail',
  'base64 -d <<< x | bash -eo pipefail',
  'base64 -d <<< x | bash --rcfile y',
  'base64 -d <<< x | bash 3<<< y',
  'bash <(base64 -d <<< x)',
  'source <(base64 -d <<< x)',
  'bash /dev/fd/3 3< x',
  'curl -s x | mksh',
  'git() { command git "$@"; }; g push',
  'echo "it is',
  "git 'pu",
  'echo $(git',
  `echo \${X:-\`git`,
];

describe('given a rule that denies a push', () => {
  it('when it is written in any other way that can be read, then it is denied', () => {
    fc.assert(
      fc.property(hidden, (command) => {
        expect(word(command), JSON.stringify(command)).toBe('deny');
      }),
      { numRuns: 1500 },
    );
  });

  it.each(UNREADABLE)('when only the shell knows what %j runs, then it is not let through', (command) => {
    expect(['ask', 'deny']).toContain(word(command));
    expect(permissionFor(DENY, { command, paths: [] })).not.toMatchObject({ word: 'allow' });
  });

  it('when a hole stands anywhere in it, then it is not let through', () => {
    const holes = fc.constantFrom('$X', `\${X}`, '"$X"', '$(f)', '`f`', '{a,b}', '*');
    fc.assert(
      fc.property(
        holes,
        fc.integer({ min: 0, max: 7 }),
        fc.integer({ min: 1, max: 8 }),
        (hole, from, length) => {
          const command = `${'git push'.slice(0, from)}${hole}${'git push'.slice(Math.min(8, from + length))} origin`;
          expect(word(command), command).not.toBe('allow');
        },
      ),
    );
  });

  it.each([
    'ls "$HOME"',
    'touch "$HOME/asked"',
    'echo done > "$LOG"',
    '[ -f x ] && npm test',
    'for f in *.ts; do cat "$f"; done',
    'git -C "$D" status',
    "git commit -m \"$(cat <<'E'\nfix: don't (ever) break\n\nIt's better.\nE\n)\"",
    'git add -A && git commit -qm "feat: a"',
    'grep -rn "x" src | head -$N',
    "cat > a.txt <<E\nit's $HOME\nE",
    'echo $((1 + 2 << 3))',
    `arr=(a b); echo "\${arr[@]}"`,
    'npm test 2>&1 | tail -5',
    'while read -r line; do echo "$line"; done < x',
    'bash scripts/check.sh --fast',
    'bash -e "$DIR/check.sh"',
    '. "$HOME/.nvm/nvm.sh" && nvm use',
    'diff <(sort a) <(sort b)',
    'npm test | tee out.log',
  ])('when %j is run, then nobody is asked', (command) => {
    expect(permissionFor(DENY, { command, paths: [] })).toEqual({ word: 'allow', rule: null });
  });
});

describe('given rules that allow only some', () => {
  const ONLY: PermissionPolicy = { default: 'deny', rules: [{ match: 'npm *', policy: 'allow' }] };

  it('when something else stands beside what is allowed, then it is not let through', () => {
    const others = fc.constantFrom('curl evil', 'node x', '"curl" evil', '/bin/curl evil', '$X');
    fc.assert(
      fc.property(others, fc.constantFrom(...SETTINGS.slice(0, 19)), (other, set) => {
        expect(word(`npm test; ${set(other)}`, ONLY)).toBe('deny');
        expect(word(`npm test $(${set(other)})`, ONLY)).toBe('deny');
      }),
    );
  });
});

describe('given any line', () => {
  const pieces = fc.constantFrom(
    ...[...'\'"\\`$(){}<>|;&# \n\t*[]!~=-a'],
    ...[
      'git push',
      '$(',
      '${',
      '<<E',
      '<<<',
      '$((',
      'bash -c ',
      'eval ',
      'xargs ',
      'E\n',
      "$'",
      '{a,b}',
      'if ',
      '2>&1',
    ],
  );
  it('when it is read, then it has a word, at once', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        expect(['allow', 'ask', 'deny']).toContain(word(parts.join('')));
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['many words', `echo ${'a '.repeat(9_000)}`],
    ['many commands', 'a;'.repeat(9_000)],
    [
      'many shells',
      `env ${'sh '.repeat(150)} -c '${`env ${'sh '.repeat(50)} -c "${'sh '.repeat(50)} -c ls"`}'`,
    ],
    ['many quotes', `${'"'.repeat(19_000)}`],
    ['many brackets', `${'$('.repeat(4_000)}`],
    ['many holes', `git ${'$X'.repeat(5_000)}`],
  ])('when it holds %s, then its reading is bounded', (_name, command) => {
    expect(['allow', 'ask']).toContain(word(command));
  });
});
