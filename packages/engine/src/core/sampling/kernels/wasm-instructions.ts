// WebAssembly instructions as bytes: the few that the loops over a row use. Code is a list of bytes, and what takes
// operands takes their code: `add(a, b)` is the code of a, that of b, then the opcode.
// Source: WebAssembly Core Specification 2.0, section 5.4 (binary format of instructions).

export type Code = readonly number[];

const SIMD_PREFIX = 0xfd;
/** Result type of `block` statements: none. */
const NO_RESULT = 0x40;
/** Alignment hints, as powers of two. */
const ALIGN = { i32: 2, f32: 2, f64: 3, v128: 4 } as const;
/** Added to an alignment hint that the index of a memory follows. Other loads and stores are of memory 0. */
const HAS_MEMORY = 0x40;
const ROW_MEMORY = 1;

const plain =
  (opcode: number) =>
  (...operands: readonly Code[]): Code => [...operands.flat(), opcode];
const simd =
  (opcode: number, ...immediates: readonly number[]) =>
  (...operands: readonly Code[]): Code => [
    ...operands.flat(),
    SIMD_PREFIX,
    ...unsigned(opcode),
    ...immediates,
  ];

export const i32 = {
  constant: (value: number): Code => [0x41, ...signed(value)],
  store: (address: Code, offset: number, value: Code): Code => [
    ...address,
    ...value,
    ...[0x36, ALIGN.i32, ...unsigned(offset)],
  ],
  add: plain(0x6a),
  isLess: plain(0x49),
  and: plain(0x71),
  shiftLeft: plain(0x74),
  shiftRight: plain(0x76),
};

export const f32 = {
  constant: (value: number): Code => [0x43, ...bytesOf(new Float32Array([value]))],
  load: (address: Code, offset = 0): Code => [...address, 0x2a, ALIGN.f32, ...unsigned(offset)],
  store: (address: Code, value: Code): Code => [...address, ...value, 0x38, ALIGN.f32, 0],
  sub: plain(0x93),
  mul: plain(0x94),
  isAtLeast: plain(0x60),
};

export const f64 = {
  constant: (value: number): Code => [0x44, ...bytesOf(new Float64Array([value]))],
  load: (address: Code, offset: number): Code => [...address, 0x2b, ALIGN.f64, ...unsigned(offset)],
  store: (address: Code, value: Code, offset = 0): Code => [
    ...address,
    ...value,
    ...[0x39, ALIGN.f64, ...unsigned(offset)],
  ],
  add: plain(0xa0),
  fromF32: plain(0xbb),
};

export const v128 = {
  load: (address: Code, offset: number): Code => [
    ...address,
    ...[SIMD_PREFIX, 0x00, ALIGN.v128, ...unsigned(offset)],
  ],
  /** From the memory of the row. */
  loadRow: (address: Code, offset: number): Code => [
    ...address,
    ...[SIMD_PREFIX, 0x00, ALIGN.v128 | HAS_MEMORY, ROW_MEMORY, ...unsigned(offset)],
  ],
  /** Two lanes, and zeros. */
  loadHalf: (address: Code, offset: number): Code => [
    ...address,
    ...[SIMD_PREFIX, 0x5d, ALIGN.f64, ...unsigned(offset)],
  ],
  store: (address: Code, offset: number, value: Code): Code => [
    ...address,
    ...value,
    ...[SIMD_PREFIX, 0x0b, ALIGN.v128, ...unsigned(offset)],
  ],
  and: simd(0x4e),
  or: simd(0x50),
  anyTrue: simd(0x53),
};

export const f32x4 = {
  splat: simd(0x13),
  first: simd(0x1f, 0),
  lane: (value: Code, lane: number): Code => simd(0x1f, lane)(value),
  isNotEqual: simd(0x42),
  isLess: simd(0x43),
  isAtLeast: simd(0x46),
  nearest: simd(0x6a),
  add: simd(0xe4),
  sub: simd(0xe5),
  mul: simd(0xe6),
  /** The second where it is smaller, else the first. */
  min: simd(0xea),
  /** The second where the first is smaller, else the first. */
  max: simd(0xeb),
};

export const i32x4 = {
  splat: simd(0x11),
  lane: (value: Code, lane: number): Code => simd(0x1b, lane)(value),
  /** A bit for each lane: its sign. */
  signs: simd(0xa4),
  shiftLeft: simd(0xab),
  add: simd(0xae),
  sub: simd(0xb1),
};

export const f64x2 = {
  splat: simd(0x14),
  first: simd(0x21, 0),
  second: simd(0x21, 1),
  fromLowF32: simd(0x5f),
  add: simd(0xf0),
};

/** The four lanes of a vector in another order. */
export function reorder(value: Code, lanes: readonly [number, number, number, number]): Code {
  const bytes = lanes.flatMap(lane => [0, 1, 2, 3].map(byte => 4 * lane + byte));
  // The instruction picks from two vectors; both are the same, and the second is never picked from.
  return [...value, ...value, SIMD_PREFIX, 0x0d, ...bytes];
}

/** The first value where the condition is not zero, else the second. */
export const select = plain(0x1b);

export function ifTrue(condition: Code, body: readonly Code[]): Code {
  return [...condition, 0x04, NO_RESULT, ...body.flat(), 0x0b];
}

export function ifElse(condition: Code, body: readonly Code[], otherwise: readonly Code[]): Code {
  return [...condition, 0x04, NO_RESULT, ...body.flat(), 0x05, ...otherwise.flat(), 0x0b];
}

/** Runs the body, again as long as the condition is not zero after it. */
export function repeatWhile(condition: Code, body: readonly Code[]): Code {
  return [0x03, NO_RESULT, ...body.flat(), ...condition, 0x0d, 0x00, 0x0b];
}

/** A parameter or variable of a function. */
export interface Local {
  readonly get: Code;
  set(value: Code): Code;
}

/** The parameter or variable at a place of its function. */
export function localAt(index: number): Local {
  const number = unsigned(index);
  return {
    get: [0x20, ...number],
    set: value => [...value, 0x21, ...number],
  };
}

/** Four floats, all of that value. */
export function splat(value: number): Code {
  return f32x4.splat(f32.constant(value));
}

export function advance(address: Local, bytes: number): Code {
  return address.set(i32.add(address.get, i32.constant(bytes)));
}

/** A whole number from 0, in LEB128. */
export function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): Code {
  const isLast = value >= -0x40 && value < 0x40;
  return isLast ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}

/** Little-endian, whatever the machine. */
function bytesOf(value: Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>): Code {
  const view = new DataView(new ArrayBuffer(value.byteLength));
  if (value instanceof Float32Array) view.setFloat32(0, value[0]!, true);
  else view.setFloat64(0, value[0]!, true);
  return [...new Uint8Array(view.buffer)];
}
