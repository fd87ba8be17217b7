/** By what a piece of code is told to be a command: the program that it begins with. */

/** The programs that build and test projects. */
export const RUNNER =
  /^(?:\$ )?(?:npm|npx|pnpm|yarn|bun|node|deno|tsc|vitest|jest|eslint|biome|pytest|python3?|tox|ruff|mypy|cargo|go|make|gradle|\.\/\w[\w./-]*|mvn|dotnet|swift|xcodebuild|ruby|bundle|rspec|rake|php|composer|phpunit|mix|rebar3|dart|flutter|zig|sh|bash|just|ctest|cmake|bazel|uv|poetry|hatch)\b/;
/** What else a shell runs: a claim only where its exit code is named. */
export const SHELL =
  /^(?:\$ )?(?:test|\[|ls|grep|rg|cat|git|curl|echo|diff|cmp|wc|head|tail|sed|awk|rm|cp|mv|touch|mkdir|chmod|find|stat|docker|psql|sqlite3|true|false|bash|env|sudo|\w+(?= --?\w))(?:\s|$)/;
