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

/** A key that needs no escapes in a field name. */
const PLAIN_KEY = /^[A-Za-z0-9_ ]+$/;

/**
 * Collects the leaf paths of payloads, one payload at a time; keeps only paths and types. A list of scalars is a leaf at
 * its own path. These give no path: lists of objects or lists, empty containers, keys that are blank or contain other
 * characters than ASCII letters, digits, `_` and spaces, and paths above the limits of a query.
 */
export class PayloadPathCollector {
  readonly #typesByPath = new Map<string, Set<LeafType>>();

  /** Adds a payload as JSON text. Anything but a JSON object is ignored, as in the original service. */
  add(payload: string): void {
    const parsed = parseObject(payload);
    if (parsed !== null) collectLeaves(parsed, this.#typesByPath);
  }

  /** All paths collected so far, sorted by code point. */
  paths(): readonly PayloadPath[] {
    return [...this.#typesByPath.keys()]
      .sort(byCodePoint)
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

function collectLeaves(root: object, typesByPath: Map<string, Set<LeafType>>): void {
  const stack = [{ prefix: '', depth: 1, node: root }];
  for (let frame = stack.pop(); frame !== undefined; frame = stack.pop()) {
    const { prefix, depth } = frame;
    for (const [key, value] of Object.entries(frame.node) as [string, unknown][]) {
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

/** Paths are ASCII, so UTF-16 order is code point order. */
function byCodePoint(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
