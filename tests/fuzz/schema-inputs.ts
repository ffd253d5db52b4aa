// Random inputs from a JSON Schema of the OpenAPI document: mostly what it allows, with hostile values in some places. The
// schemas are those of the document, so new endpoints and fields are fuzzed without a change here.

import type { Random } from '../support/random.ts';

export type Schema = Readonly<Record<string, unknown>>;

export interface InputOptions {
  readonly random: Random;
  /** Schemas by name, for `$ref`. */
  readonly components: Readonly<Record<string, Schema>>;
  /** Texts that some field may hold: ids and cursors of earlier replies, names of models. */
  readonly texts: readonly string[];
  /** Probability of a hostile value, for each place. */
  readonly hostility: number;
}

const MAX_DEPTH = 8;
const REF = '#/components/schemas/';

const HOSTILE_SCALARS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  0.5,
  1e6,
  1e308,
  -1e308,
  2 ** 31,
  2 ** 53,
  1e19,
  '',
  ' ',
  '0',
  '-1',
  '1e999',
  'NaN',
  'true',
  'x',
  '\u0000',
  '\ud800',
  '\u202e',
  '%00',
  '../../etc/passwd',
  "' or 1=1 --",
  '$getField',
  'payload.a"b',
  '__proto__',
  'constructor',
  'toString',
  '2026-13-45T99:99:99Z',
  '{{ 1 / 0 }}',
  '<|im_end|>',
  '((((((((((a+)+)+)+)+)+)+)+)+)+)+$',
  'x'.repeat(5_000),
];

const OPERATORS = ['$and', '$or', '$not', '$eq', '$gt', '$in', '$contains', '$convert', '$getField'];

/** A value that mostly obeys the schema. */
export function randomInput(schema: Schema, options: InputOptions, depth = 0): unknown {
  const { random, hostility } = options;
  if (random.chance(hostility)) return hostileValue(options, depth);
  const { $ref } = schema;
  if (typeof $ref === 'string') {
    const component = options.components[$ref.slice(REF.length)];
    return component === undefined ? null : randomInput(component, options, depth);
  }
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return random.pick(schema.enum as unknown[]);
  const alternatives = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (alternatives !== undefined) return randomInput(random.pick(alternatives), options, depth);
  if (Array.isArray(schema.allOf)) return merged(schema.allOf as readonly Schema[], options, depth);
  const examples = schema.examples as readonly unknown[] | undefined;
  if (examples !== undefined && examples.length > 0 && random.chance(0.5))
    return structuredClone(random.pick(examples));
  const type = Array.isArray(schema.type) ? random.pick(schema.type as string[]) : schema.type;
  switch (type) {
    case 'object':
      return randomObject(schema, options, depth);
    case 'array':
      return randomList(schema, options, depth);
    case 'string':
      return randomText(schema, options);
    case 'integer':
      return Math.round(randomNumber(schema, random));
    case 'number':
      return randomNumber(schema, random);
    case 'boolean':
      return random.chance(0.5);
    case 'null':
      return null;
    default:
      return hostileValue(options, depth);
  }
}

function merged(schemas: readonly Schema[], options: InputOptions, depth: number): unknown {
  const values = schemas.map(schema => randomInput(schema, options, depth));
  const isAllObjects = values.every(value => typeof value === 'object' && value !== null);
  return isAllObjects ? Object.assign({}, ...(values as object[])) : values[0];
}

function randomObject(schema: Schema, options: InputOptions, depth: number): unknown {
  const { random } = options;
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  const required = new Set((schema.required ?? []) as readonly string[]);
  const share = properties.length > 8 ? 0.12 : 0.5;
  const value: Record<string, unknown> = {};
  for (const [name, inner] of properties) {
    const isWanted = required.has(name) ? !random.chance(options.hostility) : random.chance(share);
    if (isWanted && depth < MAX_DEPTH) value[name] = randomInput(inner, options, depth + 1);
  }
  const { additionalProperties } = schema;
  if (additionalProperties !== undefined && additionalProperties !== false)
    for (let count = random.below(3); count > 0; count--)
      value[String(hostileKey(random))] =
        typeof additionalProperties === 'object' && depth < MAX_DEPTH
          ? randomInput(additionalProperties as Schema, options, depth + 1)
          : hostileValue(options, depth);
  return value;
}

function randomList(schema: Schema, options: InputOptions, depth: number): unknown {
  const { random } = options;
  if (depth >= MAX_DEPTH) return [];
  const inOrder = schema.prefixItems as readonly Schema[] | undefined;
  if (inOrder !== undefined) return inOrder.map(item => randomInput(item, options, depth + 1));
  const length = Math.max(Number(schema.minItems ?? 0), random.below(3));
  const items = (schema.items ?? {}) as Schema;
  return Array.from({ length: Math.min(length, 5) }, () => randomInput(items, options, depth + 1));
}

function randomText({ format }: Schema, { random, texts }: InputOptions): string {
  if (format === 'date-time') return new Date(random.below(2 ** 31) * 1_000).toISOString();
  return random.chance(0.7) ? random.pick(texts) : 'x'.repeat(random.below(40));
}

function randomNumber({ minimum, maximum }: Schema, random: Random): number {
  const low = Number(minimum ?? -2);
  const high = Math.min(Number(maximum ?? low + 10), low + 10);
  return random.chance(0.2) ? random.pick([low, high]) : low + random.next() * (high - low);
}

function hostileValue(options: InputOptions, depth: number): unknown {
  const { random, texts } = options;
  const kind = random.below(12);
  if (kind < 7 || depth >= MAX_DEPTH) return random.pick(HOSTILE_SCALARS);
  if (kind < 8) return random.pick(texts);
  if (kind < 9) return nested(random.below(200));
  if (kind < 10) return Array.from({ length: random.below(4) }, () => hostileValue(options, depth + 2));
  return Object.fromEntries(
    Array.from({ length: 1 + random.below(3) }, () => [hostileKey(random), hostileValue(options, depth + 2)]),
  );
}

function hostileKey(random: Random): string {
  return random.chance(0.3) ? random.pick(OPERATORS) : String(random.pick(HOSTILE_SCALARS)).slice(0, 200);
}

function nested(depth: number): unknown {
  let value: unknown = 'x';
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}
