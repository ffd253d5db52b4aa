/** A metadata value of a GGUF file. 64-bit integers are `bigint`; arrays of numbers are typed arrays. */
export type GgufValue =
  | string
  | number
  | bigint
  | boolean
  | readonly string[]
  | readonly boolean[]
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | BigUint64Array
  | BigInt64Array
  | Float32Array
  | Float64Array
  | readonly GgufValue[];

/** The metadata of a GGUF file by key, for example `general.architecture`. */
export type GgufMetadata = ReadonlyMap<string, GgufValue>;
