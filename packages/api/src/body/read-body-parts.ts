// The bytes of a JSON body, counted while they arrive, for procedures that parse it later.

import { BodyCounts } from './body-counts.ts';

export interface BodyParts {
  readonly parts: readonly Uint8Array[];
  /** Unit: bytes. */
  readonly length: number;
}

/** Throws: `body_too_large`; what `body` throws. */
export async function readBodyParts(body: AsyncIterable<Uint8Array>): Promise<BodyParts> {
  const counts = new BodyCounts();
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    counts.add(part);
    parts.push(part);
    length += part.length;
  }
  return { parts, length };
}
