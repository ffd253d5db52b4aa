// Share of the device's memory bandwidth that decoding reaches: no step can be faster than reading every weight once.

import { rounded } from '../rounded.ts';
import type { DecodeTimes } from './measure-device.ts';

/** A step of all streams reads every weight once, so one stream's speed times the weights is what memory gave. */
export function bandwidthShare(
  { streamCount, tokensPerSecond }: DecodeTimes,
  weightBytes: number,
  bytesPerSecond: number,
): number {
  return rounded(((tokensPerSecond / streamCount) * weightBytes) / bytesPerSecond);
}
