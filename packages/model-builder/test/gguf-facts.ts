// What the header of a GGUF file tells its architecture, for tests of single keys.

import type { GgufValue } from '@ortler/gguf';
import { ConfigFields } from '../src/gguf/config-fields.ts';
import type { GgufFacts } from '../src/gguf/gguf-architecture.ts';

/** The facts of a file without tensors. */
export function ggufFacts(
  metadata: Readonly<Record<string, GgufValue>>,
  { headSize }: Pick<GgufFacts, 'headSize'>,
): GgufFacts {
  const fields = new ConfigFields({
    path: 'model.gguf',
    metadata: new Map(Object.entries(metadata)),
  } as never);
  const sizes = { headSize, hiddenSize: 64, headCount: 4, ropeFactors: undefined };
  return { ...sizes, fields, has: () => false, hasInLayers: () => false, rowCount: () => undefined };
}
