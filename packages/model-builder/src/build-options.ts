// Options and progress of a build.

import type { GraphVariant, KvType, Precision } from '@ortler/engine/graph-contract';
import type { WrittenMatrix } from './weights/written-matrix.ts';

/** Stage and progress of a build. `hash` reads the checkpoint, `weights` writes the model. */
export interface BuildProgress {
  readonly stage: 'hash' | 'weights' | 'finish';
  readonly doneBytes: number;
  readonly totalBytes: number;
}

export interface BuildModelOptions {
  /** Folder with `config.json`, `tokenizer.json` and `*.safetensors`, a GGUF file, or a folder with one GGUF model. */
  readonly sourceDir: string;
  /** Folder of a PEFT LoRA adapter (`adapter_config.json`, `adapter_model.safetensors`) to merge into the weights. */
  readonly adapterDir?: string | undefined;
  /** Folder to create; it must not exist. */
  readonly outputDir: string;
  readonly precision: Precision;
  /** `kernels` or `slots` for the CPU, `paged` or `device-slots` for a GPU. Default: `kernels`. Precisions: `VARIANT_PRECISIONS`. */
  readonly variant?: GraphVariant | undefined;
  /**
   * Only for a GPU, in q4 or q8: quantises activations to int8 in the products (`accuracy_level` 4 of MatMulNBits), which may
   * or may not be faster on a GPU. Default: false.
   */
  readonly roundsActivations?: boolean | undefined;
  /** Type of the KV cache. Default: `defaultKvType`. */
  readonly kvType?: KvType | undefined;
  /**
   * Longest context that the build is for. It decides the factors of LongRoPE (long ones above the original context) and nothing else.
   * Unit: tokens; at most that of the model, the default.
   */
  readonly contextLength?: number | undefined;
  /** Whether the model will be served with the defaults of its generation_config.json: a wrong one is refused. Default: false. */
  readonly modelDefaults?: boolean | undefined;
  readonly onProgress?: ((progress: BuildProgress) => void) | undefined;
  /**
   * Called with each matrix of a `kernels` graph once it is quantised, in the order of the file. Measuring its error takes about
   * as long as quantising it; without this nothing is measured.
   */
  readonly onMatrix?: ((matrix: WrittenMatrix) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}
