// Keeps the smallest set of best tokens whose probabilities reach a sum.

import type { Candidates } from '../candidates.ts';
import { tokenWeight, type WeightScale } from '../kernels/token-weight.ts';
import type { LogitsRow } from '../logits-row.ts';

/** So many tokens between two limits are sorted; more are split by another sum over the row. */
const SORTED_COUNT = 256;
/** First limits to try, as scores: most rows of a model have what top-p keeps within the first. */
const FIRST_SCORES = [-4, -8, -16] as const;
/** Limits that are farther apart in probability than this power of two are halved: nothing is even between them. */
const FAR_POWERS = 2;
/** How far from the ends of an interval, and from where the target should lie in it, the next limit is: a share of it. */
const SHARE_MARGIN = 0.05;

/** A limit and the weight of all tokens that reach it. */
interface Limit {
  readonly logit: number;
  readonly mass: number;
}

export interface TopPSearch {
  readonly topP: number;
  readonly temperature: number;
  readonly scale: WeightScale;
  /** What the steps before left: tokens that reach this logit. */
  readonly lowestLogit: number;
}

/**
 * The least logit that stays. A token stays when the tokens ranked before it weigh less than `topP` of all: that is
 * vLLM's rule "sort ascending and drop while the sum is at most 1 - topP", seen from the other end. The best token
 * always stays. Equal logits are ranked by id; those that do not stay are forbidden in the row.
 *
 * No full sort: two limits, one that keeps too little and one that keeps enough, close in on the place until few
 * tokens are between them.
 * Mutates: `row` and `candidates`.
 */
export function topPLimit(row: LogitsRow, candidates: Candidates, search: TopPSearch): number {
  const { topP, scale, lowestLogit } = search;
  const all: Limit = { logit: lowestLogit, mass: row.weigh(scale, lowestLogit) };
  const target = topP * all.mass;
  let { tooFew, enough } = firstLimits(row, all, target, search);
  for (let turn = 0; ; turn++) {
    // Every token between the limits weighs at least what one at the lower limit would.
    const mostBetween = (enough.mass - tooFew.mass) / Math.max(1, tokenWeight(enough.logit, scale));
    if (mostBetween <= SORTED_COUNT) break;
    const logit = limitBetween(tooFew, enough, { target, turn, scale });
    if (logit === null) break;
    const limit = { logit, mass: row.weigh(scale, logit) };
    if (limit.mass < target) tooFew = limit;
    else enough = limit;
  }
  row.gather(candidates, enough.logit, tooFew.logit);
  return cutBetween(row, candidates, { massBefore: tooFew.mass, target, scale });
}

function firstLimits(
  row: LogitsRow,
  all: Limit,
  target: number,
  { temperature, scale }: TopPSearch,
): { readonly tooFew: Limit; readonly enough: Limit } {
  let tooFew: Limit = { logit: Infinity, mass: 0 };
  for (const score of FIRST_SCORES) {
    const logit = Math.fround(scale.largest + score * temperature);
    if (logit <= all.logit) break;
    const limit = { logit, mass: row.weigh(scale, logit) };
    if (limit.mass >= target) return { tooFew, enough: limit };
    tooFew = limit;
  }
  return { tooFew, enough: all };
}

/**
 * A logit between two limits; null when there is none. Far limits are halved. Near ones are split a little below and a
 * little above where the target would lie if the weight grew evenly between them, so that both ends move, and every third
 * turn in the middle, which bounds the turns where many logits are equal.
 */
function limitBetween(
  tooFew: Limit,
  enough: Limit,
  { target, turn, scale }: { readonly target: number; readonly turn: number; readonly scale: WeightScale },
): number | null {
  const top = Math.min(tooFew.logit, scale.largest);
  const isFar = (top - enough.logit) * scale.factor > FAR_POWERS;
  const even = (target - tooFew.mass) / (enough.mass - tooFew.mass);
  const near = turn % 3 === 0 ? even + SHARE_MARGIN : even - SHARE_MARGIN;
  const share = isFar || turn % 3 === 2 ? 0.5 : Math.min(1 - SHARE_MARGIN, Math.max(SHARE_MARGIN, near));
  const logit = Math.fround(top + (enough.logit - top) * share);
  return logit > enough.logit && logit < tooFew.logit ? logit : null;
}

/** Goes through the candidates from the best one on until the target is reached. */
function cutBetween(
  row: LogitsRow,
  candidates: Candidates,
  { massBefore, target, scale }: { massBefore: number; target: number; scale: WeightScale },
): number {
  const { tokenIds, logits } = candidates;
  const ranked = candidates.rank();
  let mass = massBefore;
  let keptCount = 0;
  while (keptCount < ranked.length && mass < target) {
    mass += tokenWeight(logits[ranked[keptCount]!]!, scale);
    keptCount++;
  }
  const limit = logits[ranked[keptCount - 1]!]!;
  for (let i = keptCount; i < ranked.length && logits[ranked[i]!] === limit; i++) {
    row.logits[tokenIds[ranked[i]!]!] = -Infinity;
  }
  return limit;
}
