// The formats of a build as its manifest has them: how many matrices of each role have which.

import type { WeightFormat } from '@ortler/kernels';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { MatrixFormats } from './choose-formats.ts';
import { decoderMatrices, type MatrixRole } from './decoder-matrices.ts';

/** For example `{ "table": { "q6": 1 }, "down": { "q4-min": 28, "q5-min": 2 }, ... }`. */
export type WeightFormatCounts = Readonly<
  Partial<Record<MatrixRole, Readonly<Partial<Record<WeightFormat, number>>>>>
>;

export function countFormats(config: DecoderConfig, formats: MatrixFormats): WeightFormatCounts {
  const counts: Partial<Record<MatrixRole, Partial<Record<WeightFormat, number>>>> = {};
  for (const { role, name } of decoderMatrices(config)) {
    const format = formats.get(name);
    if (format === undefined) continue;
    counts[role] = { ...counts[role], [format]: (counts[role]?.[format] ?? 0) + 1 };
  }
  return counts;
}
