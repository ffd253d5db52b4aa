// What an architecture of GGUF files leaves to the program that reads them, and what its tensors are called and hold.

import type { ConfigFields } from './config-fields.ts';

export interface GgufArchitecture {
  /** Of config.json. */
  readonly modelType: string;
  /** Keys of config.json beside those that all architectures have. */
  readonly configKeys?: (facts: GgufFacts) => Readonly<Record<string, unknown>>;
  /** Some layers see a window of the last tokens only. */
  readonly hasWindows?: boolean;
  /** Key of config.json for the epsilon of norms that subtract the mean; others are RMS norms. */
  readonly layerNormKey?: string;
  /** Layers with a window may have a rotary base of their own. */
  readonly hasLocalBase?: boolean;
  /** Positions of images have several coordinates; in text they are all alike. */
  readonly hasSections?: boolean;
  /** `configKeys` reads mixtures of experts. */
  readonly hasExperts?: boolean;
  /** Files may leave out the size of the MLP, because no layer has one. */
  readonly hasNoMlp?: boolean;
  /** Counts of the file may be lists with a number for each layer, which `configKeys` reads. */
  readonly layersDiffer?: boolean;
  /** `configKeys` reads the factors of `rope_freqs.weight`; else they divide all frequencies. */
  readonly readsRopeFactors?: boolean;
  /** Rows of queries and keys are in llama.cpp's order. */
  readonly permutesHeads?: boolean;
  /**
   * Value heads of a recurrent layer are in another order, in which each in turn has another head of keys.
   */
  readonly turnsKeyHeads?: boolean;
  /** Inputs and gates of a recurrent layer are two matrices in the file, and one in a checkpoint. */
  readonly splitsInputGate?: boolean;
  /** Gates and ups of an MLP are two matrices of the file, and one of a checkpoint. */
  readonly splitsGateUp?: boolean;
  /** `configKeys` reads the sizes of heads, which are those of latent attention. */
  readonly hasLatentHeads?: boolean;
  /** `rope.dimension_count` may be less than the size of a head. */
  readonly rotatesPart?: boolean;
  /** Names in the file of modules of a layer, where they are not those of Llama. */
  readonly modules?: Readonly<Record<string, string>>;
}

/** What the keys of an architecture follow from. */
export interface GgufFacts {
  readonly fields: ConfigFields;
  readonly headSize: number;
  readonly hiddenSize: number;
  readonly headCount: number;
  /** Divisors of rotary frequencies, where the file has some. */
  readonly ropeFactors: readonly number[] | undefined;
  /** Whether the file has the tensor. */
  has(name: string): boolean;
  /** Whether a layer of the file has the tensor. */
  hasInLayers(name: string): boolean;
  /** Rows of a matrix; undefined where the file has none of the name. */
  rowCount(name: string): number | undefined;
}

/** `layer_types` and `sliding_window` where the file has a window. */
export function windowKeys({ fields }: GgufFacts, architecture: string) {
  const window = fields.window(architecture);
  if (window === undefined) return undefined;
  const layerTypes = fields
    .flags(`${architecture}.attention.sliding_window_pattern`)
    ?.map(isSliding => (isSliding ? 'sliding_attention' : 'full_attention'));
  return { sliding_window: window, ...(layerTypes !== undefined && { layer_types: layerTypes }) };
}
