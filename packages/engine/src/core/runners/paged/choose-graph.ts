// Which graph of a build a device runs: on CUDA the one with norms of queries and keys inside the attention, if the attention of this
// machine computes them rightly. Caller: `create-step-runner.ts`.

import type { OrtBackend, OrtSession, OrtSessionOptions, OrtValue } from '@ortler/onnxruntime';
import type { ModelManifest } from '../../../graph-contract/index.ts';
import {
  halfBits,
  type NormPlace,
  TRIAL_CACHES,
  TRIAL_HEADS,
  TRIAL_TOKENS,
  type TrialData,
  trialData,
  trialGraph,
} from './head-norm-trial.ts';

/**
 * Largest difference of the two attentions, whose results are means of values between -1 and 1. Rounding to float16 makes less than
 * 0.005 (`choose-graph.gpu.test.ts`, against float64). A kernel without the norm, with another epsilon, with a norm over all heads, or with the norm after the
 * rotation is off by 0.06 and more.
 */
export const NORM_BOUND = 0.02;

export interface ChosenGraph {
  /** Name of the graph in the manifest. */
  readonly graphFile: string;
  /** Why it is not the device's own; undefined where it is. */
  readonly note: string | undefined;
}

/**
 * A device whose trial fails, whether its attention refuses the norms or computes something else, gets the graph that other devices
 * have: the same model with norms as operators of their own.
 */
export async function chooseGraph(
  backend: OrtBackend,
  { graphFile, cudaGraphFile, headSize }: ModelManifest,
  options: OrtSessionOptions,
): Promise<ChosenGraph> {
  if (options.device !== 'cuda' || cudaGraphFile === undefined) return { graphFile, note: undefined };
  const fault = await findHeadNormFault(backend, headSize, options);
  if (fault === undefined) return { graphFile: cudaGraphFile, note: undefined };
  const note = `Norms of queries and keys are operators of their own, because the attention of this device does not compute them: ${fault}`;
  return { graphFile, note };
}

/** A sentence that says what the device refused or computed otherwise; undefined where its norms are right. */
export async function findHeadNormFault(
  backend: OrtBackend,
  headSize: number,
  options: OrtSessionOptions,
): Promise<string | undefined> {
  try {
    const data = trialData(headSize);
    const apart = await runTrial(backend, data, 'apart', options);
    const inside = await runTrial(backend, data, 'inside', options);
    const difference = largestDifference(inside, apart);
    if (difference <= NORM_BOUND) return undefined;
    return `results differ by ${difference.toPrecision(2)}, where rounding makes at most ${NORM_BOUND}.`;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}

/** The attention's output. Shape: `[TRIAL_TOKENS, heads * headSize]`. Throws: errors of ONNX Runtime. */
export async function runTrial(
  backend: OrtBackend,
  data: TrialData,
  norms: NormPlace,
  options: OrtSessionOptions,
): Promise<Float16Array> {
  const { headSize, query, key, value, cacheShape } = data;
  const session = await backend.createSession(trialGraph(data, norms), options);
  const owned: OrtValue[] = [];
  const own = (made: OrtValue): OrtValue => {
    owned.push(made);
    return made;
  };
  const rows = (heads: number, bits: Uint16Array) =>
    own(backend.createTensor('float16', [TRIAL_TOKENS, heads * headSize], bits));
  try {
    const caches = TRIAL_CACHES.map(names => ({
      names,
      memory: own(session.allocate('float16', cacheShape)),
    }));
    const inputs = new Map([
      ['query', rows(TRIAL_HEADS.query, halfBits(query))],
      ['key', rows(TRIAL_HEADS.key, halfBits(key))],
      ['value', rows(TRIAL_HEADS.key, halfBits(value))],
      ...caches.map(({ names: [past], memory }) => [past, memory] as const),
    ]);
    const output = new Uint16Array(query.length);
    const outputs = new Map([
      ['output', rows(TRIAL_HEADS.query, output)],
      ...caches.map(({ names: [, present], memory }) => [present, memory] as const),
    ]);
    await runOnce(session, inputs, outputs);
    return new Float16Array(output.buffer);
  } finally {
    for (const made of owned) made.dispose();
    session.dispose();
  }
}

async function runOnce(
  session: OrtSession,
  inputs: ReadonlyMap<string, OrtValue>,
  outputs: ReadonlyMap<string, OrtValue>,
): Promise<void> {
  const binding = session.bind(inputs, outputs);
  try {
    await binding.run();
  } finally {
    binding.dispose();
  }
}

/** NaN where one of the numbers is NaN: it is neither above nor below any bound. */
function largestDifference(a: Float16Array, b: Float16Array): number {
  let largest = 0;
  for (const [i, value] of a.entries()) {
    const difference = Math.abs(value - b[i]!);
    if (!(difference <= largest)) largest = difference;
    if (Number.isNaN(largest)) return largest;
  }
  return largest;
}
