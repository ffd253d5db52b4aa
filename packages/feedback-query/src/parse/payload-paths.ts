// Payload schema discovery: the leaf paths of sampled payloads and the type of their values. Pure. Walks with an
// explicit stack instead of recursion, so that a deeply nested payload cannot overflow the call stack.
import { DEFAULT_QUERY_LIMITS } from './limits.ts';

export type PayloadValueType = 'numeric' | 'boolean' | 'categorical';

/** A discovered path, in the wire format. */
export interface PayloadPath {
  readonly json_path: string;
  readonly value_type: PayloadValueType;
}

type LeafType = 'number' | 'boolean' | 'string' | 'null';

const { maxSegmentCount, maxFieldLength } = DEFAULT_QUERY_LIMITS;
const MAX_PATH_LENGTH = maxFieldLength - 'payload.'.length;

/** Paths that one answer may have. */
export const MAX_DISCOVERED_PATHS = 32_768;
/** Entries of an object between two pauses. */
const ENTRIES_PER_SLICE = 1_024;

/** A key that needs no escapes in a field name. */
const PLAIN_KEY = /^[A-Za-z0-9_ ]+$/;

/**
 * Collects the leaf paths of payloads, one payload at a time; keeps only paths and types. A list of scalars is a leaf at
 * its own path. These give no path: lists of objects or lists, empty containers, keys that are blank or contain other
 * characters than ASCII letters, digits, `_` and spaces, and paths above the limits of a query.
 */
export class PayloadPathCollector {
  readonly #typesByPath = new Map<string, Set<LeafType>>();

  /** Distinct paths collected so far. */
  get pathCount(): number {
    return this.#typesByPath.size;
  }

  /** Adds a payload as JSON text. Anything but a JSON object is ignored, as in the original service. */
  add(payload: string): void {
    for (const _ of this.addInSlices(payload));
  }

  /** Like `add`, but yields now and then, so that the caller may pause. */
  *addInSlices(payload: string): Generator<void> {
    const parsed = parseObject(payload);
    yield;
    if (parsed !== null) yield* collectLeaves(parsed, this.#typesByPath);
  }

  /** All paths collected so far, sorted by code point: they are ASCII, so UTF-16 order is code point order. */
  paths(): readonly PayloadPath[] {
    return [...this.#typesByPath.keys()]
      .sort()
      .map(path => ({ json_path: path, value_type: valueTypeOf(this.#typesByPath.get(path)!) }));
  }
}

/** Leaf paths over all payloads, as `PayloadPathCollector` finds them. */
export function discoverPayloadPaths(payloads: Iterable<string>): readonly PayloadPath[] {
  const collector = new PayloadPathCollector();
  for (const payload of payloads) collector.add(payload);
  return collector.paths();
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function* collectLeaves(root: object, typesByPath: Map<string, Set<LeafType>>): Generator<void> {
  let count = 0;
  const stack = [{ prefix: '', depth: 1, node: root }];
  for (let frame = stack.pop(); frame !== undefined; frame = stack.pop()) {
    const { prefix, depth } = frame;
    const node = frame.node as Readonly<Record<string, unknown>>;
    for (const key of Object.keys(node)) {
      const value = node[key];
      if (++count % ENTRIES_PER_SLICE === 0) yield;
      const path = prefix + key;
      if (key.trim() === '' || !PLAIN_KEY.test(key) || path.length > MAX_PATH_LENGTH) continue;
      if (Array.isArray(value)) {
        for (const element of value) record(typesByPath, path, element);
      } else if (typeof value === 'object' && value !== null) {
        if (depth < maxSegmentCount) stack.push({ prefix: `${path}.`, depth: depth + 1, node: value });
      } else {
        record(typesByPath, path, value);
      }
    }
  }
}

function record(typesByPath: Map<string, Set<LeafType>>, path: string, value: unknown): void {
  if (typeof value === 'object' && value !== null) return;
  const types = typesByPath.get(path) ?? new Set<LeafType>();
  types.add(value === null ? 'null' : (typeof value as LeafType));
  typesByPath.set(path, types);
}

/** Nulls do not change the type; a path that is always null is boolean, as in the original service. */
function valueTypeOf(types: ReadonlySet<LeafType>): PayloadValueType {
  if (types.has('string')) return 'categorical';
  if (!types.has('number')) return 'boolean';
  return types.has('boolean') ? 'categorical' : 'numeric';
}
