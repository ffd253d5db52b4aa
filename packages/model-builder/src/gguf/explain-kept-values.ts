// Says which types the matrices of a GGUF file have and which of them a build keeps, for people.

import type { GpuVariant, GraphVariant } from '@ortler/engine/graph-contract';
import { GgufModel } from '@ortler/gguf';
import { isFloatType, keptType } from './gguf-tensor.ts';

/** Continues "file, because". Undefined for files without quantised matrices, and those that cannot be read. */
export async function explainKeptValues(
  path: string,
  variant: Exclude<GraphVariant, GpuVariant>,
): Promise<string | undefined> {
  const model = await GgufModel.open(path).catch(() => undefined);
  if (model === undefined) return undefined;
  await model.close();
  const matrices = model.tensorNames
    .map(name => model.tensor(name)!)
    .filter(({ dimensions }) => dimensions.length === 2);
  const types = new Set(matrices.map(({ type }) => type.name));
  const quantised = [...types].filter(type => !isFloatType(type)).toSorted();
  if (quantised.length === 0) return undefined;
  const kept = quantised.filter(type => keptType(type, variant));
  const fitted = quantised.filter(type => !keptType(type, variant));
  const parts = [
    ...(kept.length === 0 ? [] : [`values in ${kept.join(', ')} are kept exactly`]),
    ...(fitted.length === 0
      ? []
      : [`values in ${fitted.join(', ')} are rounded to 8 bits in blocks of 32, which loses least`]),
  ];
  return `the GGUF file is quantised: ${parts.join('; ')}`;
}
