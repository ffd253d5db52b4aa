// The tensor types of GGUF: numbers in the file, names, and the size of their blocks.
// Source: ggml.h (ggml_type), ggml-common.h (block layouts); the names are those of gguf-py.

interface TensorTypeFacts {
  readonly id: number;
  readonly name: string;
  /** Elements that are stored together; a row is whole blocks. */
  readonly blockLength: number;
  readonly blockBytes: number;
}

/** Types whose values can be read. */
const SERVED = [
  { id: 0, name: 'F32', blockLength: 1, blockBytes: 4 },
  { id: 1, name: 'F16', blockLength: 1, blockBytes: 2 },
  { id: 30, name: 'BF16', blockLength: 1, blockBytes: 2 },
  { id: 8, name: 'Q8_0', blockLength: 32, blockBytes: 34 },
  { id: 2, name: 'Q4_0', blockLength: 32, blockBytes: 18 },
  { id: 3, name: 'Q4_1', blockLength: 32, blockBytes: 20 },
  { id: 6, name: 'Q5_0', blockLength: 32, blockBytes: 22 },
  { id: 7, name: 'Q5_1', blockLength: 32, blockBytes: 24 },
  { id: 10, name: 'Q2_K', blockLength: 256, blockBytes: 84 },
  { id: 11, name: 'Q3_K', blockLength: 256, blockBytes: 110 },
  { id: 12, name: 'Q4_K', blockLength: 256, blockBytes: 144 },
  { id: 13, name: 'Q5_K', blockLength: 256, blockBytes: 176 },
  { id: 14, name: 'Q6_K', blockLength: 256, blockBytes: 210 },
  { id: 20, name: 'IQ4_NL', blockLength: 32, blockBytes: 18 },
  { id: 23, name: 'IQ4_XS', blockLength: 256, blockBytes: 136 },
  { id: 39, name: 'MXFP4', blockLength: 32, blockBytes: 17 },
] as const satisfies readonly TensorTypeFacts[];

/** Types that are known by name, so that they are refused by name. */
const OTHERS: readonly TensorTypeFacts[] = [
  { id: 9, name: 'Q8_1', blockLength: 32, blockBytes: 40 },
  { id: 15, name: 'Q8_K', blockLength: 256, blockBytes: 292 },
  { id: 16, name: 'IQ2_XXS', blockLength: 256, blockBytes: 66 },
  { id: 17, name: 'IQ2_XS', blockLength: 256, blockBytes: 74 },
  { id: 18, name: 'IQ3_XXS', blockLength: 256, blockBytes: 98 },
  { id: 19, name: 'IQ1_S', blockLength: 256, blockBytes: 50 },
  { id: 21, name: 'IQ3_S', blockLength: 256, blockBytes: 110 },
  { id: 22, name: 'IQ2_S', blockLength: 256, blockBytes: 82 },
  { id: 24, name: 'I8', blockLength: 1, blockBytes: 1 },
  { id: 25, name: 'I16', blockLength: 1, blockBytes: 2 },
  { id: 26, name: 'I32', blockLength: 1, blockBytes: 4 },
  { id: 27, name: 'I64', blockLength: 1, blockBytes: 8 },
  { id: 28, name: 'F64', blockLength: 1, blockBytes: 8 },
  { id: 29, name: 'IQ1_M', blockLength: 256, blockBytes: 56 },
  { id: 34, name: 'TQ1_0', blockLength: 256, blockBytes: 54 },
  { id: 35, name: 'TQ2_0', blockLength: 256, blockBytes: 66 },
  { id: 40, name: 'NVFP4', blockLength: 64, blockBytes: 36 },
  { id: 41, name: 'Q1_0', blockLength: 128, blockBytes: 18 },
];

/** A type whose values can be read. */
export type GgufType = (typeof SERVED)[number]['name'];

/** A tensor type of the format, served or not. */
export type TensorType = TensorTypeFacts;

/** Names of the types whose values can be read. */
export const GGUF_TYPES: readonly GgufType[] = SERVED.map(({ name }) => name);

const BY_ID: ReadonlyMap<number, TensorType> = new Map(
  [...SERVED, ...OTHERS].map(type => [type.id, type] as const),
);

const BY_NAME: ReadonlyMap<string, TensorType> = new Map(SERVED.map(type => [type.name, type] as const));

/** Undefined for a number that no known type has. */
export function tensorTypeOf(id: number): TensorType | undefined {
  return BY_ID.get(id);
}

export function isGgufType(name: string): name is GgufType {
  return BY_NAME.has(name);
}

/** Block size of a served type. */
export function blockLayout(type: GgufType): { readonly blockLength: number; readonly blockBytes: number } {
  return BY_NAME.get(type)!;
}
