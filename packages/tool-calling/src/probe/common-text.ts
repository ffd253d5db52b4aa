// Common beginnings and ends of rendered texts, which never cut a mark `<...>` in two.

export function commonStart(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  const common = a.slice(0, length);
  const open = common.lastIndexOf('<');
  return open > common.lastIndexOf('>') ? common.slice(0, open) : common;
}

export function commonEnd(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a.at(-1 - length) === b.at(-1 - length)) length++;
  const common = a.slice(a.length - length);
  const before = a.slice(0, a.length - length);
  const isInMark = before.lastIndexOf('<') > before.lastIndexOf('>');
  return isInMark ? common.slice(common.indexOf('>') + 1) : common;
}

export const withoutStart = (text: string, start: string) => text.slice(start.length);
export const withoutEnd = (text: string, end: string) => text.slice(0, text.length - end.length);
