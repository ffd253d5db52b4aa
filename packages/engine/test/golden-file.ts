// Reads goldens. A golden that does not say how it was made is refused.

import { readFileSync } from 'node:fs';

export interface Provenance {
  readonly script: string;
  readonly python: string;
  readonly [tool: string]: unknown;
}

/** Throws when the file's provenance lacks the script, the Python version or the version of one of `tools`. */
export function readGolden<T>(
  name: string,
  tools: readonly string[],
): T & { readonly provenance: Provenance } {
  const golden = JSON.parse(readFileSync(new URL(`./golden/${name}`, import.meta.url), 'utf8'));
  return checkProvenance(golden, name, tools);
}

export function checkProvenance<T>(
  golden: { readonly provenance?: Readonly<Record<string, unknown>> },
  name: string,
  tools: readonly string[],
): T & { readonly provenance: Provenance } {
  for (const field of ['script', 'python', ...tools]) {
    if (typeof golden.provenance?.[field] !== 'string') {
      throw new Error(`Golden ${name} does not say its "${field}": make it with its script.`);
    }
  }
  return golden as unknown as T & { readonly provenance: Provenance };
}
