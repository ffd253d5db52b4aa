// JSON that keeps 64-bit integers: whole numbers past 2^53 are read as bigint and written back digit by digit.
// Bodies are also bounded in depth, so that no later walk over them can run out of stack.

/** Deepest nesting of a request body. */
export const MAX_JSON_DEPTH = 128;

/** Only texts with so many digits in a row can hold an integer that a double would round. */
const MANY_DIGITS = /\d{16}/;
const INTEGER = /^-?\d{16,}$/;

/** What `JSON.parse` gives a reviver as third argument for primitive values. */
interface ReviverContext {
  readonly source?: string;
}

/** Reads JSON. Throws: `SyntaxError` for text that is not JSON or is nested too deep. */
export function parseLosslessJson(text: string): unknown {
  if (isDeeperThan(text, MAX_JSON_DEPTH))
    throw new SyntaxError(`The body is nested deeper than ${MAX_JSON_DEPTH} levels.`);
  if (!MANY_DIGITS.test(text)) return JSON.parse(text);
  const parse = JSON.parse as (
    text: string,
    reviver: (key: string, value: unknown, context: ReviverContext) => unknown,
  ) => unknown;
  return parse(text, (_key, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && INTEGER.test(source)
      ? BigInt(source)
      : value,
  );
}

function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === 0x5c) i++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > limit) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}
