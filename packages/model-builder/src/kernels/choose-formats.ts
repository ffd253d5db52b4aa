// The formats of a build in q4: each matrix keeps codes of the file that are as small, and otherwise takes the smallest one whose measured error is within the budget of its role.

import { type QuantisedFormat, WEIGHT_FORMATS, type WeightFormat } from '@ortler/kernels';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { DecoderWeights } from '../hugging-face/decoder-weights.ts';
import { relativeError, sampleBlocks, sampledTensors } from '../weights/sample-error.ts';
import { commonFormat } from './common-format.ts';
import { decoderMatrices, type MatrixRole } from './decoder-matrices.ts';

/** By the name of the matrix. */
export type MatrixFormats = ReadonlyMap<string, WeightFormat>;

/**
 * By size. `q4` is for weights that come from such blocks only: a minimum costs half a bit, but of LLaMA 7B Q4_0 loses 3.7 % of
 * perplexity and Q4_1 2.7 %. With 5 bits the minimum hardly helps: SmolLM2 loses 6.2 % with it and without (ADR 45).
 */
const CANDIDATES: readonly { readonly format: QuantisedFormat; readonly isOnlyExact: boolean }[] = [
  { format: 'q4', isOnlyExact: true },
  { format: 'q4-min', isOnlyExact: false },
  { format: 'q5', isOnlyExact: false },
  { format: 'q5-min', isOnlyExact: false },
  { format: 'q6', isOnlyExact: false },
];
/** Where none of the candidates is within the budget. */
const FINEST: QuantisedFormat = 'q8';

/** A relative error that rounding to float16 or bfloat16 explains. */
const EXACT_ERROR = 0.0025;

/** Relative error that a matrix of a small model may have: 5 bits suffice for it. */
const ORDINARY_BUDGET = 0.045;
/**
 * For roles that take 6 bits. With an error of 7.8 % down alone loses 11 % of perplexity, gate and up together 6 %, which have
 * twice the weights; keys lose more per weight than any other. Values do not in SmolLM2, but in its control with noise.
 */
const SENSITIVE_BUDGET = 0.03;
const SENSITIVE_ROLES: ReadonlySet<MatrixRole> = new Set(['key', 'value', 'down']);
/** In 6 bits the table costs nothing that can be measured; with 5 bits and a minimum, an error of 4.3 %, it costs 2.5 %. */
const TABLE_BUDGET = 0.0325;

/** Hidden size of the model that the budgets were measured with, SmolLM2-135M. */
const MEASURED_SIZE = 576;
/** Hidden size from which an error no longer costs less: Q4_1 loses 2.7 % of LLaMA 7B, and 2.4 % of Llama 2 70B. */
const LARGEST_SIZE = 4096;

/**
 * The relative error that a role may have. The loss of perplexity grows with the square of the error and falls with the hidden
 * size: Q4_0 costs SmolLM2 (576) 19 to 30 %, LLaMA 7B (4,096) 3.7 %. So budgets of equal loss grow with the square root of the
 * hidden size. The table keeps its budget: an error of its rows is an error of every token.
 */
export function errorBudget(role: MatrixRole, hiddenSize: number): number {
  if (role === 'table') return TABLE_BUDGET;
  const growth = Math.sqrt(Math.min(Math.max(hiddenSize, MEASURED_SIZE), LARGEST_SIZE) / MEASURED_SIZE);
  return growth * (SENSITIVE_ROLES.has(role) ? SENSITIVE_BUDGET : ORDINARY_BUDGET);
}

/** `values`: whole blocks of a matrix. */
export function chooseFormat(values: Float32Array, budget: number): QuantisedFormat {
  const found = CANDIDATES.find(
    ({ format, isOnlyExact }) => relativeError(format, values) <= (isOnlyExact ? EXACT_ERROR : budget),
  );
  return found?.format ?? FINEST;
}

/**
 * Measures every matrix on a fixed sample, so the same checkpoint gets the same formats.
 *
 * Throws: as `WeightSource.tensor` and `CheckpointTensor.readFloats`, or the reason of `signal`.
 */
export async function chooseFormats(
  weights: DecoderWeights,
  config: DecoderConfig,
  signal: AbortSignal | undefined,
): Promise<MatrixFormats> {
  const formats = new Map<string, WeightFormat>();
  for (const { role, name, tensors } of decoderMatrices(config)) {
    signal?.throwIfAborted();
    if (role === 'router') {
      formats.set(name, 'f32');
      continue;
    }
    const sources = tensors(weights);
    const kept = keptFormat(sources);
    if (kept !== undefined) {
      formats.set(name, kept);
      continue;
    }
    const samples: Float32Array[] = [];
    for (const source of sampledTensors(sources)) samples.push(await sampleBlocks(source));
    formats.set(name, chooseFormat(joined(samples), errorBudget(role, config.hiddenSize)));
  }
  return formats;
}

/** Codes of the file with 4 or 5 bits stay as they are, because a fit would lose values to save nothing. */
function keptFormat(sources: readonly CheckpointTensor[]): WeightFormat | undefined {
  const formats = sources.map(({ quantised }) => quantised?.codes?.format);
  const [first, ...others] = formats;
  if (first === undefined || others.includes(undefined)) return undefined;
  const common = (others as QuantisedFormat[]).reduce<WeightFormat>(commonFormat, first);
  return common !== 'f32' && WEIGHT_FORMATS[common].bits <= 5 ? common : undefined;
}

function joined(samples: readonly Float32Array[]): Float32Array {
  if (samples.length === 1) return samples[0]!;
  const all = new Float32Array(samples.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const sample of samples) {
    all.set(sample, at);
    at += sample.length;
  }
  return all;
}
