// The one error class of the model builder and its closed list of codes.
// Callers switch on `code`; messages are for people and may change.

/**
 * Why a checkpoint was refused or a build failed.
 *
 * - `source_invalid`: the checkpoint folder lacks a file or is not a checkpoint.
 * - `source_unreadable`: a file or folder may not be read by this user, or reading it failed.
 * - `config_invalid`: `config.json` is not valid for its `model_type`; `key` names the value.
 * - `unsupported`: the checkpoint is well formed but uses a feature that this builder does not support.
 * - `weights_corrupt`: a weights file is truncated, damaged or contradicts itself.
 * - `tensor_missing`: the architecture needs a tensor that no weights file holds.
 * - `tensor_mismatch`: a tensor has a shape, type or value that the architecture does not allow.
 * - `output_exists`: the output folder is already there; a build never overwrites.
 * - `build_failed`: the thread of the build ended early, mostly for want of memory, or met a fault of the builder.
 * - `write_failed`: the model could not be written (disk full, no permission).
 */
export type ModelBuildErrorCode =
  | 'source_invalid'
  | 'source_unreadable'
  | 'config_invalid'
  | 'unsupported'
  | 'weights_corrupt'
  | 'tensor_missing'
  | 'tensor_mismatch'
  | 'output_exists'
  | 'write_failed'
  | 'build_failed';

/** Location of the fault, for callers that show or log it themselves. */
export interface ModelBuildErrorDetails {
  /** Path of the file at fault. */
  readonly file?: string | undefined;
  /** Name of the tensor at fault. */
  readonly tensor?: string | undefined;
  /** Path of the value at fault inside a JSON file: `rope_scaling.factor`. */
  readonly key?: string | undefined;
  readonly cause?: unknown;
}

/** The error every public function of this package throws, apart from the reason of an aborted signal. */
export class ModelBuildError extends Error {
  override readonly name = 'ModelBuildError';
  readonly code: ModelBuildErrorCode;
  readonly file: string | undefined;
  readonly tensor: string | undefined;
  readonly key: string | undefined;

  constructor(code: ModelBuildErrorCode, message: string, details: ModelBuildErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.file = details.file;
    this.tensor = details.tensor;
    this.key = details.key;
  }
}

/** Throws when an invariant of the builder is violated; never reachable by user input. */
export function assertInvariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}
