/**
 * What tokens cost by the price table, for agents that tell tokens and no money. The table is a data file with the
 * source and the date of each family; a model it does not name has no price.
 */
import type { Usage } from '../core/index.ts';
import table from './prices.json' with { type: 'json' };

/** Tokens of one answer. `input` counts all of the prompt, cached or not. */
export interface AnswerTokens {
  input: number;
  output: number;
  /** Of the input: read from the cache, and written to it. */
  cached?: number;
  written?: number;
  /** The sum of several answers, of which none has a prompt as long as that. */
  several?: true;
}

/** USD per million tokens. What is read from or written to a cache costs as any input where nothing is said. */
interface Rates {
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
}

interface Price extends Rates {
  /** Rates of answers to longer prompts, by rising length. */
  longer?: (Rates & { above: number })[];
}

/** When the table was put together, as people read it. */
const PRICE_TABLE = table.date;

const PRICES = new Map<string, Price>(
  table.families.flatMap(({ models }) => Object.entries(models) as [string, Price][]),
);

/** What one answer costs by the table; null where it does not name the model. */
export function estimateUsd(model: string | null, tokens: AnswerTokens): number | null {
  const price = model === null ? undefined : PRICES.get(plainName(model));
  if (price === undefined) return null;
  const { input, output, cached = 0, written = 0, several } = tokens;
  const rates = (several ? undefined : price.longer?.findLast(({ above }) => input > above)) ?? price;
  const fresh = Math.max(0, input - cached - written);
  const usd =
    fresh * rates.input +
    cached * (rates.cacheRead ?? rates.input) +
    written * (rates.cacheWrite ?? rates.input) +
    output * rates.output;
  return usd / 1_000_000;
}

/** Without the provider before it, the date behind it, and the mark of a long context window. */
function plainName(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .replace(/\[[^\]]*\]$/, '')
    .replace(/-(?:20\d{6}|20\d\d-\d\d-\d\d)$/, '');
}

/** What one run costs as far as is known: what its agent told, and what it told only the tokens of. */
export interface Bill {
  tell(usd: number): void;
  /** null: tokens without a price. */
  reckon(usd: number | null): void;
  /** The agent told a sum that holds everything until now. */
  settle(usd: number): void;
  /** Writes the sum down. */
  charge(usage: Usage): void;
}

export function openBill(): Bill {
  let told: number | null = null;
  let reckoned: number | null = null;
  return {
    tell(usd) {
      told = (told ?? 0) + usd;
    },
    reckon(usd) {
      if (usd !== null) reckoned = (reckoned ?? 0) + usd;
    },
    settle(usd) {
      told = usd;
      reckoned = null;
    },
    charge(usage) {
      usage.costUsd = told === null && reckoned === null ? null : (told ?? 0) + (reckoned ?? 0);
      if (reckoned === null) delete usage.costFrom;
      else usage.costFrom = { usd: reckoned, priceTable: PRICE_TABLE };
    },
  };
}
