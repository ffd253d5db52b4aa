// Writes WebAssembly modules as bytes: the few instructions, types and sections that `wasm-row-module.ts` uses. Code is
// a list of bytes, and what takes operands takes their code: `add(a, b)` is the code of a, that of b, then the opcode.
// Source: WebAssembly Core Specification 2.0, section 5 (binary format).

export type Code = readonly number[];
export type ValueType = keyof typeof VALUE_TYPES;

const VALUE_TYPES = { i32: 0x7f, f32: 0x7d, f64: 0x7c, v128: 0x7b } as const;
const SIMD_PREFIX = 0xfd;
/** What `block` statements leave behind: nothing. */
const NO_RESULT = 0x40;
/** Alignment hints, as powers of two. */
const ALIGN = { i32: 2, f32: 2, f64: 3, v128: 4 } as const;

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
  isEqual: simd(0x37),
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
  /** Sets it and leaves the value. */
  tee(value: Code): Code;
}

export interface WasmFunction {
  readonly name: string;
  readonly parameters: readonly ValueType[];
  readonly result: ValueType;
  readonly variables: readonly ValueType[];
  /** The last code leaves the result. Receives the parameters, then the variables. */
  body(...locals: readonly Local[]): readonly Code[];
}

/** Four floats, all of that value. */
export function splat(value: number): Code {
  return f32x4.splat(f32.constant(value));
}

export function advance(address: Local, bytes: number): Code {
  return address.set(i32.add(address.get, i32.constant(bytes)));
}

/** A module that imports its memory as `env.memory` and exports the functions. */
export function encodeModule(functions: readonly WasmFunction[]): Uint8Array<ArrayBuffer> {
  const types = functions.map(({ parameters, result }) => [
    0x60,
    ...list(parameters.map(type => [VALUE_TYPES[type]])),
    ...list([[VALUE_TYPES[result]]]),
  ]);
  const memoryImport = [...text('env'), ...text('memory'), 0x02, 0x00, 0x01];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, list(types)),
    ...section(2, list([memoryImport])),
    ...section(3, list(functions.map((_, index) => unsigned(index)))),
    ...section(7, list(functions.map(({ name }, index) => [...text(name), 0x00, ...unsigned(index)]))),
    ...section(10, list(functions.map(encodeBody))),
  ]);
}

function encodeBody({ parameters, variables, body }: WasmFunction): Code {
  const locals = [...parameters, ...variables].map((_, index) => local(index));
  const declared = list(variables.map(type => [1, VALUE_TYPES[type]]));
  const code = [...declared, ...body(...locals).flat(), 0x0b];
  return [...unsigned(code.length), ...code];
}

function local(index: number): Local {
  const number = unsigned(index);
  return {
    get: [0x20, ...number],
    set: value => [...value, 0x21, ...number],
    tee: value => [...value, 0x22, ...number],
  };
}

function section(id: number, content: Code): Code {
  return [id, ...unsigned(content.length), ...content];
}

function list(items: readonly Code[]): Code {
  return [...unsigned(items.length), ...items.flat()];
}

function text(value: string): Code {
  return list(Array.from(Buffer.from(value), byte => [byte]));
}

/** LEB128. */
function unsigned(value: number): Code {
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
