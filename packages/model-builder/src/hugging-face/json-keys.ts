// Finds duplicate keys of the outermost object of a JSON text. JSON.parse silently keeps the last one, but a weights header
// must be unambiguous.

/** The first key that the outermost object of valid JSON holds twice. */
export function findDuplicateKey(json: string): string | undefined {
  const seen = new Set<string>();
  let depth = 0;
  let expectsKey = false;
  for (let i = 0; i < json.length; i++) {
    const character = json[i];
    if (character === '"') {
      const end = endOfString(json, i);
      if (expectsKey && depth === 1) {
        const key = JSON.parse(json.slice(i, end)) as string;
        if (seen.has(key)) return key;
        seen.add(key);
      }
      expectsKey = false;
      i = end - 1;
    } else if (character === '{' || character === '[') {
      depth += 1;
      expectsKey = character === '{';
    } else if (character === '}' || character === ']') {
      depth -= 1;
    } else if (character === ',') {
      expectsKey = true;
    }
  }
  return undefined;
}

/** Position after the closing quote of the string that opens at `start`. */
function endOfString(json: string, start: number): number {
  let i = start + 1;
  while (json[i] !== '"') i += json[i] === '\\' ? 2 : 1;
  return i + 1;
}
