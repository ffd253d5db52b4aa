// The error class of this package and its closed list of codes. Callers switch on `code`.

/**
 * Why a file could not be read or written.
 *
 * - `unreadable`: the system does not let the file be read.
 * - `malformed`: the file is no ONNX model.
 * - `truncated`: a data file became shorter while it was in use.
 */
export type OnnxErrorCode = 'unreadable' | 'malformed' | 'truncated';

export interface OnnxErrorDetails {
  /** Path of the file at fault. */
  readonly file?: string;
  /** Name of the tensor at fault. */
  readonly tensor?: string;
  readonly cause?: unknown;
}

export class OnnxError extends Error {
  override readonly name = 'OnnxError';
  readonly code: OnnxErrorCode;
  readonly file: string | undefined;
  readonly tensor: string | undefined;

  constructor(code: OnnxErrorCode, message: string, { file, tensor, cause }: OnnxErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.file = file;
    this.tensor = tensor;
  }
}

/** Throws when one of our own assumptions is broken; never reachable by user input. */
export function assertInvariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}
