// Writes openapi.json beside this file: the whole document, for review of every change to the wire.
// Run: node --conditions=@ortler/source packages/api/test/golden/write-openapi.ts

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goldenDocument } from './golden-document.ts';

const modules = join(import.meta.dirname, '../../node_modules');
const versionOf = (name: string): string => {
  const text = readFileSync(join(modules, name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
};

const provenance = {
  script: 'write-openapi.ts',
  node: process.versions.node,
  zod: versionOf('zod'),
  'trpc-to-openapi': versionOf('trpc-to-openapi'),
};
const text = JSON.stringify({ provenance, document: goldenDocument() }, null, 2);
writeFileSync(join(import.meta.dirname, 'openapi.json'), `${text}\n`);
