/**
 * What a look at one tool of a project proposes: gates that the project itself declares, each with the
 * reason a person reads beside it. Nothing is proposed that the project does not already have.
 */

/** The gates that are looked for, in the order in which they are cheapest to fail. */
export const GATE_NAMES = ['typecheck', 'lint', 'test', 'build'] as const;
export type GateName = (typeof GATE_NAMES)[number];

/** A gate for ralph.yml, with its reason. */
export interface ProposedGate {
  name: GateName;
  run: string;
  timeoutS: number;
  /** 1 where the runner's output tells how many tests ran; else 0, and the number is not checked. */
  minTests: number;
  /** Where the command comes from, as half a sentence: `package.json declares "test": "vitest run"`. */
  why: string;
}

/** What one look found. */
export interface Finding {
  /** For people: `Node project (pnpm)`. null: this tool is not used here. */
  kind: string | null;
  gates: ProposedGate[];
  /** Whole sentences about what was seen and not proposed, or is worth knowing. */
  notes: string[];
}

/** Of a tool that is not used here. */
export const NOTHING: Finding = { kind: null, gates: [], notes: [] };

/** Seconds a gate may take where the project does not say. */
export const TIMEOUT_S: Record<GateName, number> = { typecheck: 300, lint: 300, test: 600, build: 900 };

/** A gate with the usual time. */
export function gate(name: GateName, run: string, why: string, minTests = 0): ProposedGate {
  return { name, run, timeoutS: TIMEOUT_S[name], minTests, why };
}

/** One gate of each name, the first that proposed it, in the order of `GATE_NAMES`. */
export function oneOfEach(found: Finding[]): ProposedGate[] {
  const gates = found.flatMap((finding) => finding.gates);
  return GATE_NAMES.flatMap((name) => gates.find((each) => each.name === name) ?? []);
}
