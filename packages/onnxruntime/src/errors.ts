// The error class of this package and its closed list of codes. Callers switch on `code`.

/**
 * Why ONNX Runtime could not do what it was asked.
 *
 * - `model_invalid`: it refused the model file, or the graph has other inputs and outputs than the caller names.
 * - `runtime_failed`: the library, a provider or a device cannot be used, or a call of it failed.
 */
export type OrtErrorCode = 'model_invalid' | 'runtime_failed';

export class OrtError extends Error {
  override readonly name = 'OrtError';
  readonly code: OrtErrorCode;

  constructor(code: OrtErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Throws when one of our own assumptions is broken; never reachable by user input. */
export function assertInvariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}
