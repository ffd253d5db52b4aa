/** The pattern as JavaScript runs it. Throws: SyntaxError. */
export function compileEcma(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    // Older schemas escape characters that need none, which only the older mode allows.
    return new RegExp(source);
  }
}
