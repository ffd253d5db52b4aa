// How often a part stands in a text: what texts are metered by before something is made of each place.

/** How often a part occurs, without overlap; an empty one stands between all characters. */
export function countOf(text: string, part: string): number {
  if (part === '') return text.length + 1;
  let count = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count++;
  return count;
}
