// The graphs of a model with slots, which share its cache: the main graph, which computes everything, and with an int8 KV cache
// the prefill graph, which only fills the cache.

import { join, resolve } from 'node:path';
import type { OrtBackend, OrtSession, OrtSessionOptions } from '@ortler/onnxruntime';
import type { ModelManifest } from '../../../graph-contract.ts';

export class SlotsGraphs {
  /** Computes everything. */
  readonly main: OrtSession;
  /** Fills the cache only. Undefined: the model has none. */
  readonly prefill: OrtSession | undefined;

  constructor(main: OrtSession, prefill: OrtSession | undefined) {
    this.main = main;
    this.prefill = prefill;
  }

  /** Throws: `model_invalid` when a graph cannot be loaded; then none stays loaded. */
  static async open(
    backend: OrtBackend,
    modelDir: string,
    { graphFile, prefillGraphFile }: ModelManifest,
    options: OrtSessionOptions,
  ): Promise<SlotsGraphs> {
    const main = await backend.createSession(resolve(modelDir, graphFile), options);
    if (prefillGraphFile === undefined) return new SlotsGraphs(main, undefined);
    try {
      return new SlotsGraphs(main, await backend.createSession(join(modelDir, prefillGraphFile), options));
    } catch (cause) {
      main.dispose();
      throw cause;
    }
  }

  dispose(): void {
    this.prefill?.dispose();
    this.main.dispose();
  }
}
