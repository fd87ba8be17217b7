import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isForeignState, readForeignState, readShellSettings } from './index.ts';

const settings = (text: string) =>
  Object.fromEntries(readShellSettings('.ralphrc', text).settings.map(({ key, value }) => [key, value]));

describe('settings in shell notation', () => {
  it('reads plain, quoted and exported values, and leaves comments out', () => {
    const text = `\ufeff# limits
MAX_CALLS=100
export PROJECT_NAME="Tide \\"table\\" # 2"   # not this
ALLOWED='Write,Bash(git *),$HOME'
EMPTY=
MIXED=a"b c"'d e'f\\ g
  SPACED=1;
MAX_CALLS=200
LONG="first
second"
`;
    expect(settings(text)).toEqual({
      PROJECT_NAME: 'Tide "table" # 2',
      ALLOWED: 'Write,Bash(git *),$HOME',
      EMPTY: '',
      MIXED: 'ab cd ef g',
      SPACED: '1',
      MAX_CALLS: '200',
      LONG: 'first\nsecond',
    });
    expect(readShellSettings('.ralphrc', text).warnings).toEqual([]);
    expect(settings(text.replaceAll('\n', '\r\n'))).toEqual(settings(text));
  });

  it('keeps commands and variables as they are written, and says which', () => {
    const read = readShellSettings(
      '.ralphrc',
      'A=$(rm -rf "$HOME")\nB="today: `date`"\nC=$HOME/x\nD=\'$(date)\'\nE="\\$(date)"\n',
    );
    expect(read.settings).toEqual([
      { key: 'A', value: '$(rm -rf "$HOME")', line: 1, runs: 'command' },
      { key: 'B', value: 'today: `date`', line: 2, runs: 'command' },
      { key: 'C', value: '$HOME/x', line: 3, runs: 'variable' },
      { key: 'D', value: '$(date)', line: 4 },
      { key: 'E', value: '$(date)', line: 5 },
    ]);
    expect(read.warnings).toHaveLength(2);
    expect(read.warnings[0]).toBe(
      '.ralphrc:1: A would be what a command prints; commands in settings are not run',
    );
  });

  it('tells every line that is no setting', () => {
    const { settings: found, warnings } = readShellSettings(
      'rc',
      'source other\nX=1 rm y\nif true; then\nZ="open\n',
    );
    expect(found.map(({ key, value }) => [key, value])).toEqual([
      ['X', '1'],
      ['Z', 'open\n'],
    ]);
    expect(warnings).toEqual([
      'rc:1: this is no KEY=value and is not run',
      'rc:2: what stands behind the value of X is left out',
      'rc:3: this is no KEY=value and is not run',
      'rc:4: the quote of Z is not closed',
    ]);
  });

  it('never throws, and reads back what is quoted for the shell', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        readShellSettings('rc', text);
      }),
    );
    fc.assert(
      fc.property(fc.string(), (value) => {
        const quoted = `'${value.replaceAll('\r', '').replaceAll("'", `'"'"'`)}'`;
        expect(settings(`KEY=${quoted}`)).toEqual({ KEY: value.replaceAll('\r', '') });
      }),
    );
  });
});

describe('state that another loop left', () => {
  it('is named and shown in a line', () => {
    expect(
      readForeignState('.ralph/status.json', '{"loop_count": 7, "status": "success", "other": {"a": 1}}'),
    ).toEqual({
      path: '.ralph/status.json',
      meaning: 'the last state another loop wrote about itself',
      says: 'status: success, loop_count: 7',
    });
    expect(readForeignState('.exit_signals', '{"done_signals": [3, 4], "test_only_loops": []}')?.says).toBe(
      'done_signals: 2, test_only_loops: 0',
    );
    expect(readForeignState('.call_count', '12\n')?.says).toBe('12');
    expect(readForeignState('.circuit_breaker_state', '{"state": "OPEN\\u001b[31m\\n"}')?.says).toBe(
      'state: OPEN [31m',
    );
  });

  it('any other file is none, and no text makes it throw', () => {
    expect(readForeignState('prd.json', '{}')).toBeNull();
    expect(isForeignState('a\\.ralph\\progress.json')).toBe(true);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const says = readForeignState('.ralph/progress.json', text)!.says;
        expect(says.length).toBeLessThanOrEqual(160);
        expect(says).not.toMatch(/[\u0000-\u001f]/);
      }),
    );
  });
});
