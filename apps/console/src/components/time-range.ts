// The times that the x axis of a chart shows.

/** Least time that is shown. Unit: seconds. */
const MIN_TIME = { clock: 60, time: 7 * 86_400 } as const;

/**
 * The range of the data, also while it has a single time: the range that uPlot proposes for that is the next
 * thousand days.
 *
 * @param times Unit: seconds since 1970, as the result.
 */
export function timeRange(times: ArrayLike<number>, axis: keyof typeof MIN_TIME): [number, number] {
  const end = times[times.length - 1] ?? Date.now() / 1000;
  return [Math.min(times[0] ?? end, end - MIN_TIME[axis]), end];
}
