// Aggregates the metrics of one log call, trajectory by trajectory: the mean over the trajectories that have a metric, over
// groups for group metrics, and the mean over groups of the population standard deviation of their rewards. Source: the
// dashboards of training clients.

import { isStorableText, MAX_METRIC_NAME_LENGTH } from '@ortler/schemas';
import type { MeanTally } from '../ports/training-services.ts';

/** Maximum number of distinct metrics of one call. */
export const MAX_METRIC_NAMES = 1_000;

/** Largest magnitude of a value, which keeps sums of values and of their squares finite. */
export const MAX_METRIC_SIZE = 1e150;

export const REWARD = 'reward';
export const REWARD_STD_DEV = 'reward_std_dev';
export const EXCEPTION_RATE = 'exception_rate';

/** Computed metrics. A client's metric of the same name is kept in its trajectory but not aggregated. */
const COMPUTED: ReadonlySet<string> = new Set([REWARD, REWARD_STD_DEV, EXCEPTION_RATE]);

type MetricValues = Readonly<Record<string, number | boolean>>;

/** Tallies of one call. Mutates: itself only. */
export class MetricTallies {
  readonly #tallies = new Map<string, { total: number; count: number }>();
  // Rewards of the open group, by Welford's algorithm, which is stable for large rewards with small differences.
  #groupCount = 0;
  #groupMean = 0;
  #groupSquares = 0;

  /** Adds one trajectory of the open group. Throws: `MetricError`. */
  addTrajectory(reward: number, metrics: MetricValues): void {
    this.#add(REWARD, reward);
    this.#add(EXCEPTION_RATE, 0);
    for (const [name, value] of Object.entries(metrics))
      if (!COMPUTED.has(name)) this.#add(name, Number(value));
    this.#groupCount++;
    const distance = reward - this.#groupMean;
    this.#groupMean += distance / this.#groupCount;
    this.#groupSquares += distance * (reward - this.#groupMean);
  }

  /** Ends the open group. Its metrics count once, as `group_<name>`. Throws: `MetricError`. */
  endGroup(metrics: MetricValues, exceptionCount: number): void {
    if (exceptionCount > 0) this.#addMany(EXCEPTION_RATE, exceptionCount, exceptionCount);
    if (this.#groupCount > 0)
      for (const [name, value] of Object.entries(metrics)) this.#add(`group_${name}`, Number(value));
    if (this.#groupCount > 1) this.#add(REWARD_STD_DEV, Math.sqrt(this.#groupSquares / this.#groupCount));
    // A group of one attempt has no deviation.
    else if (this.#groupCount === 1) this.#addMany(REWARD_STD_DEV, 0, 0);
    this.#groupCount = 0;
    this.#groupMean = 0;
    this.#groupSquares = 0;
  }

  get tallies(): ReadonlyMap<string, MeanTally> {
    return this.#tallies;
  }

  #add(name: string, value: number): void {
    if (Math.abs(value) > MAX_METRIC_SIZE)
      throw new MetricError(
        `${JSON.stringify(name)} must lie within ±${MAX_METRIC_SIZE}, so that a mean can be computed`,
      );
    this.#addMany(name, value, 1);
  }

  #addMany(name: string, total: number, count: number): void {
    const tally = this.#tallies.get(name);
    if (tally !== undefined) {
      tally.total += total;
      tally.count += count;
      return;
    }
    checkName(name);
    if (this.#tallies.size === MAX_METRIC_NAMES)
      throw new MetricError(`one call may log at most ${MAX_METRIC_NAMES} different metrics`);
    this.#tallies.set(name, { total, count });
  }
}

/** A metric that cannot be aggregated. The message completes a sentence. */
export class MetricError extends Error {
  override readonly name = 'MetricError';
}

function checkName(name: string): void {
  if (name === '' || name.length > MAX_METRIC_NAME_LENGTH)
    throw new MetricError(`a metric needs a name of 1 to ${MAX_METRIC_NAME_LENGTH} characters`);
  if (!isStorableText(name))
    throw new MetricError('a metric name must not contain control characters or lone surrogates');
}

/** The mean of a tally; 0 without values. */
export function meanOf({ total, count }: MeanTally): number {
  return count === 0 ? 0 : total / count;
}
