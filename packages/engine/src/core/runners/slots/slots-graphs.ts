// The graphs of a model with slots, which share its cache: the W4A16 graph for few rows, the W8A8 graph for many rows ("wide":
// weights and activations in int8), and the prefill graph, which only fills the cache. Chooses the graph of a call.

import { join, resolve } from 'node:path';
import type { OrtBackend, OrtSession, OrtSessionOptions } from '@ortler/onnxruntime';
import type { ModelManifest } from '../../../graph-contract.ts';

export interface SlotsGraphsOptions extends OrtSessionOptions {
  /**
   * Use the wide and the prefill graph, which are faster with prompts and batches, where the model has them; they are a
   * second copy of the weights. An int8 KV cache is calibrated by the prefill graph in any case. Default: true.
   */
  readonly wideGraphs?: boolean;
}

/** The facts that decide on the graph of a call with logits. */
export interface CallWidth {
  readonly rowCount: number;
  /** Whether tokens of a prompt are among its rows. */
  readonly hasPrompt: boolean;
}

/** Rows of a call from which on the wide graph is faster (SmolLM2-135M in W4A16, two cores; ADR 36 has the measurement). */
const WIDE_ROW_COUNT = 4;

export class SlotsGraphs {
  /** Computes everything. */
  readonly main: OrtSession;
  /** The same model, faster with many rows. */
  readonly #wide: OrtSession | undefined;
  #prefill: OrtSession | undefined;

  constructor(main: OrtSession, wide: OrtSession | undefined, prefill: OrtSession | undefined) {
    this.main = main;
    this.#wide = wide;
    this.#prefill = prefill;
  }

  /** Throws: `model_invalid` when a graph cannot be loaded; then none stays loaded. */
  static async open(
    backend: OrtBackend,
    modelDir: string,
    { graphFile, wideGraphFile, prefillGraphFile, kvType }: ModelManifest,
    options: SlotsGraphsOptions,
  ): Promise<SlotsGraphs> {
    const { wideGraphs = true } = options;
    const opened: OrtSession[] = [];
    const open = async (path: string) => {
      const session = await backend.createSession(path, options);
      opened.push(session);
      return session;
    };
    const openIf = async (file: string | undefined, isWanted: boolean) =>
      file === undefined || !isWanted ? undefined : open(join(modelDir, file));
    try {
      const main = await open(resolve(modelDir, graphFile));
      const wide = await openIf(wideGraphFile, wideGraphs);
      const prefill = await openIf(prefillGraphFile, wideGraphs || kvType === 'int8');
      return new SlotsGraphs(main, wide, prefill);
    } catch (cause) {
      for (const session of opened) session.dispose();
      throw cause;
    }
  }

  /** Whether generated tokens may take another graph than prompts. */
  get hasWide(): boolean {
    return this.#wide !== undefined;
  }

  /** Fills the cache only. */
  get prefill(): OrtSession | undefined {
    return this.#prefill;
  }

  /**
   * The one for a call with logits. Tokens of prompts always take the same graph, wherever chunks end and whether they are
   * computed again or not, so that a cached prompt is what computing it would give. Generated ones take the faster graph for
   * that many rows.
   */
  for({ rowCount, hasPrompt }: CallWidth): OrtSession {
    return hasPrompt || rowCount >= WIDE_ROW_COUNT ? (this.#wide ?? this.main) : this.main;
  }

  /** From now on all tokens go through the other graphs. */
  dropPrefill(): void {
    this.#prefill?.dispose();
    this.#prefill = undefined;
  }

  dispose(): void {
    this.dropPrefill();
    this.#wide?.dispose();
    this.main.dispose();
  }
}
