// Reads goldens. A golden that does not say how it was made is refused.

import { readFileSync } from 'node:fs';

/** Throws when the file's provenance lacks the script, the Python version or the version of one of `tools`. */
export function readGolden<Golden>(
  name: string,
  tools: readonly string[],
): Golden & { readonly provenance: Readonly<Record<string, unknown>> } {
  const golden = JSON.parse(readFileSync(new URL(`./golden/${name}`, import.meta.url), 'utf8'));
  const missing = ['script', 'python', ...tools].find(
    field => typeof golden.provenance?.[field] !== 'string',
  );
  if (missing !== undefined) throw new Error(`Golden ${name} does not say its "${missing}".`);
  return golden;
}
