// The one error class of this package and its closed list of codes. Callers switch on `code`; messages are for people.

/**
 * Why a GGUF file was refused.
 *
 * - `unreadable`: the file, or a shard of it, is missing or cannot be opened.
 * - `corrupt`: the file is not a GGUF file, is truncated or contradicts itself.
 * - `unsupported`: the file is well formed but has a version, byte order or tensor type that is not served.
 */
export type GgufErrorCode = 'unreadable' | 'corrupt' | 'unsupported';

export interface GgufErrorDetails {
  readonly file: string;
  /** Name of the tensor at fault. */
  readonly tensor?: string | undefined;
  /** Metadata key at fault. */
  readonly key?: string | undefined;
  readonly cause?: unknown;
}

/** The error that the readers of this package throw. */
export class GgufError extends Error {
  override readonly name = 'GgufError';
  readonly code: GgufErrorCode;
  readonly file: string;
  readonly tensor: string | undefined;
  readonly key: string | undefined;

  constructor(code: GgufErrorCode, message: string, details: GgufErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.file = details.file;
    this.tensor = details.tensor;
    this.key = details.key;
  }
}
