// Writes test/golden/compiled-sql.json. Run it with `node --conditions=@ortler/source test/make-golden-sql.ts` from the
// package after an intended change of SQL, and review the difference before committing it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compileGoldenSql } from './golden-sql.ts';

const kysely = JSON.parse(
  readFileSync(fileURLToPath(new URL('../package.json', import.meta.resolve('kysely'))), 'utf8'),
);
const golden = {
  provenance: {
    script: 'test/make-golden-sql.ts',
    versions: { kysely: kysely.version, node: process.versions.node },
    note: 'every dialect is also run by the conformance tests',
  },
  dialects: compileGoldenSql(),
};
writeFileSync(new URL('./golden/compiled-sql.json', import.meta.url), `${JSON.stringify(golden, null, 2)}\n`);
