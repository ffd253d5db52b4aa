// Writes WebAssembly modules as bytes: functions over a memory that the caller gives.
// Source: WebAssembly Core Specification 2.0, section 5.5 (binary format of modules).

import { MAX_PAGES } from '../../row-memory/web-assembly.ts';
import { type Code, type Local, localAt, unsigned } from './wasm-instructions.ts';

export type ValueType = keyof typeof VALUE_TYPES;

const VALUE_TYPES = { i32: 0x7f, f32: 0x7d, f64: 0x7c, v128: 0x7b } as const;

/** Limits of a memory that threads share, of any size. */
const SHARED_LIMITS: Code = [0x03, ...unsigned(1), ...unsigned(MAX_PAGES)];

export interface WasmFunction<Parameter extends string = string, Variable extends string = string> {
  readonly name: string;
  /** In the order of the arguments. */
  readonly parameters: Readonly<Record<Parameter, ValueType>>;
  readonly result: ValueType;
  /** Zero at first. */
  readonly variables: Readonly<Record<Variable, ValueType>>;
  /** The last code leaves the result. */
  body(locals: Readonly<Record<Parameter | Variable, Local>>): readonly Code[];
}

/** A function whose body knows its parameters and variables by their names. */
export function wasmFunction<Parameter extends string, Variable extends string>(
  definition: WasmFunction<Parameter, Variable>,
): WasmFunction {
  return definition;
}

/** Variables of one type, by number: `power0`, `power1`, ... */
export function numbered<Name extends string, Index extends number>(
  name: Name,
  indexes: readonly Index[],
  type: ValueType,
): Record<`${Name}${Index}`, ValueType> {
  const entries = indexes.map(index => [`${name}${index}`, type] as const);
  return Object.fromEntries(entries) as Record<`${Name}${Index}`, ValueType>;
}

/** A module that imports the memory it works in and that of the row, and exports the functions. */
export function encodeModule(functions: readonly WasmFunction[]): Uint8Array<ArrayBuffer> {
  const types = functions.map(({ parameters, result }) => [
    0x60,
    ...list(Object.values(parameters).map(type => [VALUE_TYPES[type]])),
    ...list([[VALUE_TYPES[result]]]),
  ]);
  // In the order of their indexes.
  const memories = ['work', 'row'].map(name => [...text('env'), ...text(name), 0x02, ...SHARED_LIMITS]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, list(types)),
    ...section(2, list(memories)),
    ...section(3, list(functions.map((_, index) => unsigned(index)))),
    ...section(7, list(functions.map(({ name }, index) => [...text(name), 0x00, ...unsigned(index)]))),
    ...section(10, list(functions.map(encodeBody))),
  ]);
}

function encodeBody({ parameters, variables, body }: WasmFunction): Code {
  const names = [...Object.keys(parameters), ...Object.keys(variables)];
  const locals = Object.fromEntries(names.map((name, index) => [name, localAt(index)]));
  const declared = list(Object.values(variables).map(type => [1, VALUE_TYPES[type]]));
  const code = [...declared, ...body(locals).flat(), 0x0b];
  return [...unsigned(code.length), ...code];
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
