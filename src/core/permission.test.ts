/** What an agent may do without asking, by what it would run. */
import { describe, expect, it } from 'vitest';
import { allowsAll, type PermissionPolicy, permissionFor } from './permission.ts';

const ASK_PUSH: PermissionPolicy = {
  default: 'allow',
  rules: [
    { match: 'git push origin docs*', policy: 'allow' },
    { match: 'git push*', policy: 'ask' },
    { match: 'rm -rf *', policy: 'deny' },
  ],
};
const about = (command: string, policy = ASK_PUSH) => permissionFor(policy, { command, paths: [] }).word;

describe('given rules about commands', () => {
  it.each([
    ['git status', 'allow'],
    ['git push', 'ask'],
    ['git push origin main', 'ask'],
    ['git push origin docs', 'allow'],
    ['rm -rf build', 'deny'],
  ])('when an agent wants %s, then the first rule that matches says %s', (command, word) => {
    expect(about(command)).toBe(word);
  });

  it.each([
    'git status; git push',
    'git status && git push --force',
    'true || git push',
    'true & git push',
    'cat x | git push',
    'echo a\ngit push',
    '(cd /tmp; git push)',
    'echo $(git push)',
    'echo `git push`',
    'bash -c "git push"',
    "sh -lc 'cd x && git push'",
    'eval git push',
    'FOO=1 git push',
    'sudo git push',
    '/usr/bin/git push',
    'g"it" push',
    'git \\\npush',
    'git  push',
    'git -C elsewhere/x push',
    'git -C x push',
    'git -C "a b" push',
    'git -c a=b push',
    'git --git-dir x push',
    'env -i git push',
    'env -u X git push',
    'sudo -n -u bob git push',
    'timeout 5 git push',
    'nice git push',
    'command -p git push',
    '2>/dev/null git push',
    'FOO="a b" git push',
    'find . -exec git push \\;',
    'echo git push | sh',
    'git push origin docs; git push origin main',
    'if true; then git push; fi',
  ])('when a push hides in %j, then it is asked for', (command) => {
    expect(about(command)).toBe('ask');
  });

  it('when a line holds several, then the strictest word is the word about it', () => {
    expect(about('git push; rm -rf build')).toBe('deny');
    expect(about('git push origin docs && ls')).toBe('allow');
  });

  it('when only some are allowed, then one that is not named is not let through beside them', () => {
    const policy: PermissionPolicy = { default: 'deny', rules: [{ match: 'npm *', policy: 'allow' }] };
    expect(about('npm test', policy)).toBe('allow');
    expect(about('npm test && npm run build', policy)).toBe('allow');
    expect(about('npm test; curl evil', policy)).toBe('deny');
    expect(about('npm test $(curl evil)', policy)).toBe('deny');
    expect(about('', policy)).toBe('deny');
  });

  it('when an allowed command writes elsewhere or takes its words from a variable, then the default is the word', () => {
    const rules: PermissionPolicy['rules'] = [
      { match: 'git push*', policy: 'deny' },
      { match: 'git *', policy: 'allow' },
    ];
    const policy: PermissionPolicy = { default: 'ask', rules };
    expect(about('git status', policy)).toBe('allow');
    expect(about('git -C x push', policy)).toBe('deny');
    expect(about('X=push; git $X', policy)).toBe('ask');
    expect(about('git log > /etc/x', policy)).toBe('ask');
  });

  it('when files are changed, then the rules are held against their paths', () => {
    const policy: PermissionPolicy = { default: 'allow', rules: [{ match: '*.env', policy: 'deny' }] };
    expect(permissionFor(policy, { command: null, paths: ['a.ts', 'x/.env'] })).toEqual({
      word: 'deny',
      rule: '*.env',
    });
  });

  it.each([
    [{ command: null, paths: ['src/a.ts'] }, 'deny'],
    [{ command: null, paths: ['/repo/src/a.ts'] }, 'deny'],
    [{ command: null, paths: ['secret/x'] }, 'deny'],
    [{ command: 'echo x > src/a.ts', paths: [] }, 'deny'],
    [{ command: 'echo x 2>> ./src/a.ts; ls', paths: [] }, 'deny'],
    [{ command: 'cat < src/a.ts', paths: [] }, 'allow'],
  ])('when %j is wanted, then a path is known as it is named and from the root: %s', (wanted, word) => {
    const rules: PermissionPolicy['rules'] = [
      { match: 'src/*', policy: 'deny' },
      { match: '/repo/secret/*', policy: 'deny' },
    ];
    expect(permissionFor({ default: 'allow', rules }, { ...wanted, cwd: '/repo' }).word).toBe(word);
  });

  it('when nobody can read it, then it says so in place of a rule', () => {
    expect(permissionFor(ASK_PUSH, { command: 'git $X', paths: [] })).toEqual({
      word: 'ask',
      rule: null,
      unread: expect.stringContaining('only the shell knows'),
    });
  });

  it('when everything is allowed, then nobody has to be asked', () => {
    expect(allowsAll({ default: 'allow', rules: [] })).toBe(true);
    expect(allowsAll(ASK_PUSH)).toBe(false);
  });

  describe('and only some are allowed', () => {
    const rules: PermissionPolicy['rules'] = [
      { match: 'ls*', policy: 'allow' },
      { match: 'git fetch*', policy: 'allow' },
    ];
    const word = (command: string) => about(command, { default: 'deny', rules });

    it.each([
      'LD_PRELOAD=./x ls',
      'PATH=. ls',
      'BASH_ENV=./x ls',
      'A+=x ls',
      'GIT_SSH_COMMAND=./x git fetch',
      'env LD_PRELOAD=./x ls',
      'sudo ls',
      'doas ls',
      'exec ls',
      'command ls',
      'nohup ls',
      'time A=1 ls',
      'if sudo ls; then ls; fi',
      './ls',
      '/tmp/x/ls',
    ])(
      'when %j changes what an allowed command does, or who does it, then it is not let through',
      (command) => {
        expect(word(command)).toBe('deny');
      },
    );

    it.each(['ls', 'time ls -l', '! ls', '{ ls', 'ls && git fetch'])(
      'when %j is run, then it is',
      (command) => {
        expect(word(command)).toBe('allow');
      },
    );

    it('when what stands before it is named too, then it is let through', () => {
      const named = [...rules, { match: 'CI=1 ls*', policy: 'allow' as const }];
      expect(about('CI=1 ls -l', { default: 'deny', rules: named })).toBe('allow');
    });
  });

  it.each([
    'GIT_SSH_COMMAND=./x git push origin docs',
    'sudo git push origin docs',
    'git -C elsewhere push origin docs',
    'A=1 bash -c "git push origin docs"',
    './git push origin docs',
  ])('when %j is more than what an exception names, then it is none', (command) => {
    expect(about(command)).toBe('ask');
  });

  it.each([
    'bash -c "git push origin docs"',
    'if true; then git push origin docs; fi',
    'git push origin docs $X',
  ])('when an exception stands whole in %j, then it is one', (command) =>
    expect(about(command)).toBe('allow'),
  );

  it('when a command has too many words to be read, then it is asked for', () => {
    const deny: PermissionPolicy = { default: 'allow', rules: [{ match: 'git push*', policy: 'deny' }] };
    for (const command of [`${'A=1 '.repeat(200)}git push origin main`, `env ${'-u X '.repeat(200)}git push`])
      expect(permissionFor(deny, { command, paths: [] })).toEqual({
        word: 'ask',
        rule: null,
        unread: 'it holds too many words to be read',
      });
  });

  describe('and files that nobody may write', () => {
    const rules: PermissionPolicy['rules'] = [
      { match: 'git push*', policy: 'ask' },
      { match: 'infra/*', policy: 'deny' },
      { match: '*.env', policy: 'deny' },
    ];
    const word = (command: string) =>
      permissionFor({ default: 'allow', rules }, { command, paths: [], cwd: '/r' }).word;

    it.each([
      'echo x > src/../infra/main.tf',
      'echo x > ./src/.././infra//main.tf',
      'echo x > ../r/infra/main.tf',
      'echo x > /r/infra/main.tf',
      'echo x > /r/src/../infra/main.tf',
      'echo x >| infra/main.tf',
      'echo x &> infra/main.tf',
      'cd infra && echo x > main.tf',
      'cd src; cd ../infra; echo x > main.tf',
      '(cd /r/infra && echo x > main.tf)',
      'pushd infra; echo x > main.tf',
      'bash -c "cd infra && echo x > main.tf"',
      'echo x | tee -a src/../infra/main.tf',
      'echo x | sudo tee /r/infra/main.tf',
      'cp x src/../infra/main.tf',
    ])('when %j writes one, by whatever name, then it is denied', (command) => {
      expect(word(command)).toBe('deny');
    });

    it.each([
      'echo x > $D/main.tf',
      'echo x > "$P"',
      'echo x > inf*/main.tf',
      'echo x > {infra,x}/main.tf',
      'echo x > "out/$N.tf"',
      'echo x > ~/r/infra/main.tf',
      'cd "$D"; echo x > main.tf',
      'cd; echo x > main.tf',
      'echo x | tee "$P"',
    ])('when only the shell knows which file %j writes, then it is asked for', (command) => {
      expect(permissionFor({ default: 'allow', rules }, { command, paths: [], cwd: '/r' })).toMatchObject({
        word: 'ask',
        unread: expect.stringContaining('only the shell knows'),
      });
    });

    it.each([
      'echo x > src/main.tf',
      'echo x > infra2/main.tf',
      'echo x > ../infra/main.tf',
      'npm test > /dev/null 2>&1',
      'npm test > >(cat)',
      'cd src && npm test > log',
    ])('when %j writes none, then nobody is asked', (command) => {
      expect(word(command)).toBe('allow');
    });

    it('when only commands are held, then a file that the shell knows is no command', () => {
      const push: PermissionPolicy = { default: 'allow', rules: [{ match: 'git push*', policy: 'deny' }] };
      expect(about('echo done > "$LOG"', push)).toBe('allow');
    });
  });

  describe('and a tool that neither runs a command nor names a file', () => {
    const rules: PermissionPolicy['rules'] = [
      { match: 'git push*', policy: 'deny' },
      { match: 'infra/*', policy: 'deny' },
      { match: 'mcp__notes__*', policy: 'allow' },
      { match: 'mcp__prod__*', policy: 'deny' },
    ];
    const of = (
      tool: string,
      input?: Record<string, unknown>,
      policy: PermissionPolicy = { default: 'allow', rules },
    ) => permissionFor(policy, { tool, command: null, paths: [], ...(input === undefined ? {} : { input }) });

    it.each([undefined, {}])(
      'when it is given %j, then nobody knows what it would do, and it is asked for',
      (input) => {
        expect(of('other', input)).toEqual({
          word: 'ask',
          rule: null,
          unread: expect.stringContaining('does not tell'),
        });
        expect(of('other', input, { default: 'deny', rules }).word).toBe('deny');
        expect(of('other', input, { default: 'allow', rules: [] }).word).toBe('allow');
      },
    );

    it('when a rule names it, then that is the word', () => {
      expect(of('mcp__prod__drop', { table: 'x' })).toEqual({ word: 'deny', rule: 'mcp__prod__*' });
      expect(of('mcp__notes__add', { text: 'x' }, { default: 'deny', rules }).word).toBe('allow');
      expect(of('mcp__notes__add', undefined).word).toBe('allow');
      expect(of('WebFetch', { url: 'https://x.org/infra/a' }).word).toBe('allow');
    });

    it.each([
      { command: 'ls; git push' },
      { command: 'git', args: ['push', 'origin'] },
      { cmd: ['git', 'push'] },
      { deep: [{ script: 'cd x\ngit push' }] },
      { path: 'infra/main.tf', content: 'x' },
      { files: ['src/../infra/main.tf'] },
      { what: 'git push origin' },
    ])('when it is given %j, then what a rule denies is found in it', (input) => {
      expect(of('mcp__notes__add', input).word).toBe('deny');
    });

    it('when what it is given cannot be read, then it is asked for', () => {
      expect(of('x', { command: 'git $X' }).word).toBe('ask');
      expect(of('x', { all: Array.from({ length: 600 }, () => 'a') }).word).toBe('ask');
      expect(of('x', { body: "It's a text about git $X." }).word).toBe('allow');
    });
  });

  it('when a command names files as well, or runs elsewhere, then they are held too', () => {
    const policy: PermissionPolicy = { default: 'allow', rules: [{ match: 'infra/*', policy: 'deny' }] };
    const wanted = { command: 'make', paths: ['infra/main.tf'], cwd: '/r' };
    expect(permissionFor(policy, wanted).word).toBe('deny');
    const moved = { command: 'echo x > main.tf', paths: [], cwd: '/r', from: '/r/infra' };
    expect(permissionFor(policy, moved).word).toBe('deny');
  });
});
