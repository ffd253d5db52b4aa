// From sampled payloads to the leaf paths they have and the kind of value found there. Pure; an explicit stack
// instead of recursion, so that a deeply nested payload cannot exhaust the call stack.
import { DEFAULT_QUERY_LIMITS } from './limits.ts';

export type PayloadValueType = 'numeric' | 'boolean' | 'categorical';

/** Wire format of one discovered path. */
export interface PayloadPath {
  readonly json_path: string;
  readonly value_type: PayloadValueType;
}

type LeafType = 'number' | 'boolean' | 'string' | 'null';

const { maxSegmentCount, maxFieldLength } = DEFAULT_QUERY_LIMITS;
const MAX_PATH_LENGTH = maxFieldLength - 'payload.'.length;

/** A key a client can write into a query without escapes. */
const PLAIN_KEY = /^[A-Za-z0-9_ ]+$/;

/**
 * Leaf paths of payloads that come one after the other; only paths and types are kept of them. A list of scalars is a
 * leaf at its own path; lists of objects or lists, empty containers, and keys that are blank or hold other than ASCII
 * letters, digits, `_` and blanks give no path; nor does a path longer than a query may name.
 */
export class PayloadPathCollector {
  readonly #typesByPath = new Map<string, Set<LeafType>>();

  /** Takes a payload as JSON text. One that is not a JSON object is passed over, as the original does. */
  add(payload: string): void {
    const parsed = parseObject(payload);
    if (parsed !== null) collectLeaves(parsed, this.#typesByPath);
  }

  /** All paths so far, sorted by code point. */
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

/** Nulls say nothing about the others; a path that is always null counts as boolean, as in the original. */
function valueTypeOf(types: ReadonlySet<LeafType>): PayloadValueType {
  if (types.has('string')) return 'categorical';
  if (!types.has('number')) return 'boolean';
  return types.has('boolean') ? 'categorical' : 'numeric';
}

/** Paths are ASCII here, where UTF-16 order is code-point order. */
function byCodePoint(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
