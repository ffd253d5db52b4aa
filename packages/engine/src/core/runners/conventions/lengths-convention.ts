// Calls of our own `slots` graphs: lengths are numbers in arrays, so a call fits any number of computed tokens, and logits
// come for the rows that were asked for.

import type { OrtBackend } from '@ortler/onnxruntime';
import { BatchInputs } from './batch-inputs.ts';
import type { CallConvention, CallInputs, CallShape, LogitsPlace } from './call-convention.ts';

export class LengthsConvention implements CallConvention {
  readonly chunkLimit = Number.POSITIVE_INFINITY;
  readonly #backend: OrtBackend;

  constructor(backend: OrtBackend) {
    this.#backend = backend;
  }

  span(): number {
    return 0;
  }

  createInputs(shape: CallShape): CallInputs {
    return new BatchInputs(this.#backend, shape);
  }

  logitsPlace({ batchSize, logitsPerRow }: CallShape): LogitsPlace {
    return { dims: [batchSize * logitsPerRow], firstRow: 0 };
  }
}
