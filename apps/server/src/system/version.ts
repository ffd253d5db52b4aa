// The version of this package.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Version from package.json, which is two folders above this file in sources and in builds. */
export const VERSION: string = readVersion();

function readVersion(): string {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
