// Numbers of the report.

import type { DecodeTimes } from './measure-device.ts';

/** A step of all streams reads every weight once, so one stream's speed times the weights is what memory gave. */
export function bandwidthShare(
  { streamCount, tokensPerSecond }: DecodeTimes,
  weightBytes: number,
  bytesPerSecond: number,
): number {
  return round(((tokensPerSecond / streamCount) * weightBytes) / bytesPerSecond);
}

export function round(value: number): number {
  return Number(value.toPrecision(4));
}
