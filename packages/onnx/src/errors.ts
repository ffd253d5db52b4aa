// The error class of this package and its closed list of codes. Callers switch on `code`.

/**
 * Why a file could not be read or written.
 *
 * - `unreadable`: the system does not let the file be read.
 * - `malformed`: the file is not an ONNX model.
 */
export type OnnxErrorCode = 'unreadable' | 'malformed';

export interface OnnxErrorDetails {
  /** Path of the file at fault. */
  readonly file?: string;
  readonly cause?: unknown;
}

export class OnnxError extends Error {
  override readonly name = 'OnnxError';
  readonly code: OnnxErrorCode;
  readonly file: string | undefined;

  constructor(code: OnnxErrorCode, message: string, { file, cause }: OnnxErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.file = file;
  }
}

/** Throws when one of our own assumptions is broken; never reachable by user input. */
export function assertInvariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}
