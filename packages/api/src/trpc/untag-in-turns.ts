// What `int64Transformer` does with an input, in turns of the event loop: an input may have megabytes. Caller: the server, which reads
// bodies of tRPC requests itself.

import { Turns } from '@ortler/worker';
import { isTagged, MAX_DEPTH, tooDeep } from './int64-transformer.ts';

/** Values between two looks at the clock. */
const VALUES_PER_PAUSE = 256;

interface OpenValue {
  readonly container: Record<string | number, unknown>;
  readonly depth: number;
}

/** Mutates: the input, whose tagged integers become bigints. Throws: for an input that is nested too deeply. */
export async function untagInTurns(input: unknown): Promise<unknown> {
  const turns = new Turns();
  const root = { input };
  const open: OpenValue[] = [{ container: root, depth: -1 }];
  let valueCount = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { container, depth } = next;
    const keys = Array.isArray(container) ? container.keys() : Object.keys(container);
    for (const key of keys) {
      if (++valueCount % VALUES_PER_PAUSE === 0) await turns.pause();
      const value = container[key];
      if (typeof value !== 'object' || value === null) continue;
      if (isTagged(value)) container[key] = BigInt(value.$int64);
      else if (depth + 1 === MAX_DEPTH) throw tooDeep();
      else open.push({ container: value as OpenValue['container'], depth: depth + 1 });
    }
  }
  return root.input;
}
