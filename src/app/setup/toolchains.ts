/** Languages whose own tool knows how to test and build: one row each. */
import type { Folder } from './folder.ts';
import { type Finding, gate, NOTHING, type ProposedGate } from './proposal.ts';

interface Toolchain {
  kind: string;
  /** Files that show that a folder is such a project; one is enough. */
  signs: string[];
  gates(folder: Folder, sign: string): ProposedGate[];
}

const TOOLCHAINS: Toolchain[] = [
  {
    kind: 'Go module',
    signs: ['go.mod'],
    gates: (folder) => [
      gate('test', 'go test ./...', 'go.mod is there', 1),
      ['.golangci.yml', '.golangci.yaml', '.golangci.toml'].some((name) => folder.has(name))
        ? gate('lint', 'golangci-lint run', 'golangci-lint is configured')
        : gate('lint', 'go vet ./...', 'go vet comes with Go'),
      gate('build', 'go build ./...', 'go.mod is there'),
    ],
  },
  {
    kind: 'Rust crate',
    signs: ['Cargo.toml'],
    gates: (folder) => [
      gate('test', 'cargo test', 'Cargo.toml is there', 1),
      ...(folder.has('clippy.toml') || folder.has('.clippy.toml')
        ? [gate('lint', 'cargo clippy --all-targets -- -D warnings', 'clippy is configured')]
        : []),
    ],
  },
  {
    kind: 'Maven project',
    signs: ['pom.xml'],
    gates: (folder) => [
      gate('test', `${folder.has('mvnw') ? './mvnw' : 'mvn'} -B -q test`, 'pom.xml is there'),
    ],
  },
  {
    kind: 'Gradle project',
    signs: ['build.gradle', 'build.gradle.kts'],
    gates: (folder, sign) => [
      gate('test', `${folder.has('gradlew') ? './gradlew' : 'gradle'} test`, `${sign} is there`),
    ],
  },
  {
    kind: 'Elixir project',
    signs: ['mix.exs'],
    gates: () => [gate('test', 'mix test', 'mix.exs is there', 1)],
  },
  {
    kind: 'Ruby project',
    signs: ['Gemfile', 'Rakefile'],
    gates: (folder) =>
      folder.has('.rspec') || folder.isFolder('spec')
        ? [gate('test', folder.has('Gemfile') ? 'bundle exec rspec' : 'rspec', 'there are specs', 1)]
        : [],
  },
  {
    kind: 'Swift package',
    signs: ['Package.swift'],
    gates: () => [gate('test', 'swift test', 'Package.swift is there', 1)],
  },
  {
    kind: 'Deno project',
    signs: ['deno.json', 'deno.jsonc'],
    gates: (_, sign) => [
      gate('test', 'deno test', `${sign} is there`, 1),
      gate('lint', 'deno lint', 'deno lint comes with Deno'),
    ],
  },
];

/** What each toolchain of the table finds in a folder. */
export function lookAtToolchains(folder: Folder): Finding[] {
  return TOOLCHAINS.map(({ kind, signs, gates }) => {
    const sign = signs.find((name) => folder.has(name));
    return sign === undefined ? NOTHING : { kind, gates: gates(folder, sign), notes: [] };
  });
}
