// Where JSON text that was cut off stopped: the value that was open, and the part of it.

export interface JsonPosition {
  /** JSON pointer to the innermost value that is not complete. Empty: the whole answer. */
  readonly path: string;
  /** The part that is open. `name` is the name of a property; its path is that of the object. */
  readonly inside: 'object' | 'array' | 'name' | 'string' | 'number' | 'literal' | 'nothing';
}

interface OpenValue {
  readonly isObject: boolean;
  /** Name or index of the current member. */
  step: string | number;
  /** Whether the current member's value has begun, or is about to. */
  isInMember: boolean;
}

const PART = /"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s"{}[\],:]+/gs;
const CLOSED_STRING = /^"(?:[^"\\]|\\.)*"$/s;

/**
 * The position at the end of JSON text that may be cut off anywhere. Null where the text is complete; a number at the end of a
 * text is complete only when it is the whole of it.
 */
export function findJsonPosition(text: string): JsonPosition | null {
  const open: OpenValue[] = [];
  const parts = text.match(PART) ?? [];
  let last: JsonPosition['inside'] = 'nothing';
  for (const [index, part] of parts.entries()) {
    const value = open.at(-1);
    const isLast = index === parts.length - 1;
    if (part === '{' || part === '[')
      open.push({ isObject: part === '{', step: 0, isInMember: part === '[' });
    else if (part === '}' || part === ']') {
      open.pop();
      if (open.length === 0) return null;
    } else if (part === ',' && value !== undefined) {
      value.isInMember = !value.isObject;
      if (typeof value.step === 'number' && !value.isObject) value.step++;
    } else if (part === ':') {
      if (value !== undefined) value.isInMember = true;
    } else if (value?.isObject === true && !value.isInMember) {
      if (isLast && !CLOSED_STRING.test(part)) last = 'name';
      else value.step = nameOf(part);
    } else if (isLast) last = openScalar(part, /\s$/.test(text));
  }
  const value = open.at(-1);
  if (value === undefined) {
    if (last === 'nothing') return parts.length === 0 ? { path: '', inside: 'nothing' } : null;
    return isWholeScalar(parts.at(-1)!) ? null : { path: '', inside: last };
  }
  if (last === 'name' || last === 'nothing') {
    const inside = last === 'name' ? 'name' : value.isObject ? 'object' : 'array';
    return { path: pointerOf(open.slice(0, -1)), inside };
  }
  return { path: pointerOf(open), inside: last };
}

/** The kind of a scalar that the text ends in; `nothing` when it is complete. */
function openScalar(part: string, hasSpaceAfter: boolean): JsonPosition['inside'] {
  if (part.startsWith('"')) return CLOSED_STRING.test(part) ? 'nothing' : 'string';
  if (hasSpaceAfter) return 'nothing';
  if (/^[-\d]/.test(part)) return 'number';
  return ['true', 'false', 'null'].includes(part) ? 'nothing' : 'literal';
}

function isWholeScalar(part: string): boolean {
  try {
    JSON.parse(part);
    return true;
  } catch {
    return false;
  }
}

function nameOf(part: string): string {
  try {
    return JSON.parse(part) as string;
  } catch {
    return part.slice(1, -1);
  }
}

function pointerOf(open: readonly OpenValue[]): string {
  return open.map(({ step }) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
