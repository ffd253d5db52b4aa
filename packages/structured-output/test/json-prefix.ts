// Whether a text is the beginning of some JSON text: a plain recursive reader that knows nothing of schemas.

/** True for whole JSON and for every cut of it. */
export function isJsonPrefix(text: string): boolean {
  try {
    const rest = readValue(text, skip(text, 0));
    return skip(text, rest) === text.length;
  } catch (end) {
    if (end === CUT) return true;
    if (end === WRONG) return false;
    throw end;
  }
}

const CUT = Symbol('cut');
const WRONG = Symbol('wrong');
const LITERALS = ['true', 'false', 'null'];

function skip(text: string, at: number): number {
  let next = at;
  while (next < text.length && ' \t\n\r'.includes(text[next]!)) next++;
  return next;
}

function readValue(text: string, at: number): number {
  const first = text[at];
  if (first === undefined) throw CUT;
  if (first === '"') return readString(text, at);
  if (first === '{') return readList(text, at, '}', readMember);
  if (first === '[') return readList(text, at, ']', readValue);
  const literal = LITERALS.find(word => word[0] === first);
  if (literal !== undefined) {
    const found = text.slice(at, at + literal.length);
    if (found === literal) return at + literal.length;
    throw literal.startsWith(found) && at + found.length === text.length ? CUT : WRONG;
  }
  const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(text.slice(at))?.[0];
  const tail = /^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][+-]?\d*)?)?$/.test(text.slice(at));
  if (number === undefined) throw tail ? CUT : WRONG;
  if (tail && at + number.length < text.length) throw CUT;
  return at + number.length;
}

function readString(text: string, at: number): number {
  const string = /^"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/.exec(text.slice(at))?.[0];
  if (string !== undefined) return at + string.length;
  const tail = /^"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*(?:\\(?:u[0-9a-fA-F]{0,3})?)?$/;
  throw tail.test(text.slice(at)) ? CUT : WRONG;
}

function readMember(text: string, at: number): number {
  if (at === text.length) throw CUT;
  if (text[at] !== '"') throw WRONG;
  const colon = skip(text, readString(text, at));
  if (colon === text.length) throw CUT;
  if (text[colon] !== ':') throw WRONG;
  return readValue(text, skip(text, colon + 1));
}

function readList(
  text: string,
  at: number,
  close: string,
  readItem: (text: string, at: number) => number,
): number {
  let next = skip(text, at + 1);
  if (text[next] === close) return next + 1;
  for (;;) {
    next = skip(text, readItem(text, next));
    if (next === text.length) throw CUT;
    if (text[next] === close) return next + 1;
    if (text[next] !== ',') throw WRONG;
    next = skip(text, next + 1);
  }
}
