// What config.json declares of quantised layers, whatever program quantised them.

/** Bits and groups that layers may have. */
export interface IntegerScheme {
  readonly bits: number;
  /** Undefined: all inputs of an output share a scale. */
  readonly groupSize: number | undefined;
}

/** Blocks that scales may have. */
export interface Float8Scheme {
  /** Outputs and inputs. Undefined: one scale for the matrix, or one for each output. */
  readonly block: readonly [number, number] | undefined;
}
