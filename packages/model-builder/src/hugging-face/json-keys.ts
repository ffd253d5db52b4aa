// JSON.parse keeps the last of two equal keys without a word; a weights header must not say two things.
// This looks at the keys of the outermost object only.

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
