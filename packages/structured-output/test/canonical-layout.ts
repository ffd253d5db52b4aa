// Whether JSON text is in a canonical layout, judged from the whole text: it is cut into parts, and every gap between them must
// be the one that the layout of the text has there.

const PARTS = /\s+|"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s"{}[\],:]+/gs;

/** True for whole texts and for cut ones. Empty lists and objects may hold a line end, because some can only be empty. */
export function isCanonical(text: string): boolean {
  const parts = text.trimStart().match(PARTS) ?? [];
  const isGap = (part: string | undefined) => part !== undefined && /^\s/.test(part);
  const broken: boolean[] = [];
  let separator: string | undefined;
  let unit: string | undefined;
  const line = (depth: number) => `\n${(unit ?? '').repeat(depth)}`;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    if (isGap(part)) continue;
    const gap = isGap(parts[i + 1]) ? parts[i + 1]! : '';
    const next = parts[isGap(parts[i + 1]) ? i + 2 : i + 1];
    // A cut text ends anywhere in a gap.
    if (next === undefined) return true;
    const isClose = next === '}' || next === ']';
    let expected = '';
    if (part === '{' || part === '[') {
      const isBroken = gap.startsWith('\n') && broken.every(Boolean);
      if (isBroken) unit ??= gap.slice(1);
      if (unit !== undefined && !/^(?: {0,8}|\t)$/.test(unit)) return false;
      if (isBroken && isClose) {
        i += 1;
        continue;
      }
      broken.push(isBroken);
      if (isBroken) expected = line(broken.length);
    } else if (part === ':' || part === ',') {
      if (part === ',' && broken.at(-1) === true) expected = line(broken.length);
      else expected = separator ??= gap === '' ? '' : ' ';
    } else if (isClose && broken.at(-1) === true) expected = line(broken.length - 1);
    if (isClose) {
      // The bracket after the gap is read with the next part, which it is itself.
      if (gap !== expected) return false;
      broken.pop();
      continue;
    }
    if (gap !== expected) return false;
  }
  return true;
}
