// The graphs of a model with slots, which share its cache, and which of them computes a call.

import { join, resolve } from 'node:path';
import type { ModelManifest } from '../../graph-contract.ts';
import type { OrtBackend, OrtSession, OrtSessionOptions } from './ort/backend.ts';

export interface SlotsGraphs {
  /** Computes everything. */
  readonly main: OrtSession;
  /** The same model, faster with many rows. */
  readonly wide?: OrtSession;
  /** Fills the cache only. */
  readonly prefill?: OrtSession;
}

export interface SlotsGraphsOptions extends OrtSessionOptions {
  /**
   * Take the graphs that are faster with prompts and batches, where the model has them; they are a second copy of the
   * weights. A cache of 8-bit codes is calibrated by its graph for prompts in any case. Default: true.
   */
  readonly wideGraphs?: boolean;
}

/**
 * Rows of a call from which on the wide graph is faster (SmolLM2-135M and Qwen2.5-0.5B in 4 bits, two cores; ADR 36 has the
 * measurement).
 */
export const WIDE_ROW_COUNT = 4;

/** Throws: `model_invalid` when a graph cannot be loaded; then none stays loaded. */
export async function openSlotsGraphs(
  backend: OrtBackend,
  modelDir: string,
  { graphFile, wideGraphFile, prefillGraphFile, kvType }: ModelManifest,
  options: SlotsGraphsOptions,
): Promise<SlotsGraphs> {
  const { wideGraphs = true } = options;
  const opened: OrtSession[] = [];
  const open = async (file: string | undefined, isWanted: boolean) => {
    if (file === undefined || !isWanted) return undefined;
    const session = await backend.createSession(join(modelDir, file), options);
    opened.push(session);
    return session;
  };
  try {
    const main = await backend.createSession(resolve(modelDir, graphFile), options);
    opened.push(main);
    const wide = await open(wideGraphFile, wideGraphs);
    const prefill = await open(prefillGraphFile, wideGraphs || kvType === 'int8');
    return { main, ...(wide && { wide }), ...(prefill && { prefill }) };
  } catch (cause) {
    for (const session of opened) session.dispose();
    throw cause;
  }
}

/** What decides on the graph of a call with logits. */
export interface CallWidth {
  readonly rowCount: number;
  /** Whether tokens of a prompt are among its rows. */
  readonly hasPrompt: boolean;
}

/**
 * Tokens of prompts always take the same graph, wherever chunks end and whether they are computed again or not, so that a cached
 * prompt is what computing it would give. Generated ones take the faster graph for that many rows.
 */
export function graphFor({ main, wide }: SlotsGraphs, { rowCount, hasPrompt }: CallWidth): OrtSession {
  return wide !== undefined && (hasPrompt || rowCount >= WIDE_ROW_COUNT) ? wide : main;
}
