// How 64-bit integers (seeds) cross tRPC, whose JSON would round them. A bigint in an input travels as
// `{"$int64": "<digits>"}`; everything else travels as plain JSON, so callers without this transformer still work.
// Outputs hold no 64-bit integers and pass untouched.

const TAG = '$int64';

/** Data transformer for `initTRPC` and for the links of every typed client. */
export const int64Transformer = {
  input: { serialize: tagBigints, deserialize: untagBigints },
  output: { serialize: (value: unknown): unknown => value, deserialize: (value: unknown): unknown => value },
};

function tagBigints(value: unknown): unknown {
  if (typeof value === 'bigint') return { [TAG]: String(value) };
  return mapChildren(value, tagBigints);
}

function untagBigints(value: unknown): unknown {
  if (isTagged(value)) return BigInt(value[TAG]);
  return mapChildren(value, untagBigints);
}

// Returns the same object when nothing inside changed, so an ordinary request is walked but not copied.
function mapChildren(value: unknown, map: (child: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const mapped = value.map(map);
    return mapped.some((child, index) => child !== value[index]) ? mapped : value;
  }
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value);
  const mapped = entries.map(([key, child]) => [key, map(child)] as const);
  const changed = mapped.some(([, child], index) => child !== entries[index]?.[1]);
  return changed ? Object.fromEntries(mapped) : value;
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isTagged(value: unknown): value is Record<typeof TAG, string> {
  if (typeof value !== 'object' || value === null || !(TAG in value)) return false;
  const digits = value[TAG];
  return Object.keys(value).length === 1 && typeof digits === 'string' && /^-?\d{1,20}$/.test(digits);
}
