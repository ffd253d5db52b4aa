// Compares the sampler with a file of rows that make_sampler_goldens.py made, and says how many differ.
//
//     node test/golden/check-sampler-rows.ts rows.json      (from packages/engine)

import { readFileSync } from 'node:fs';
import { checkProvenance } from '../golden-file.ts';
import { goldenIds, keptIds, type SamplerGolden } from '../sampler-golden.ts';

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('Name the file of rows.');
const golden = checkProvenance<SamplerGolden>(JSON.parse(readFileSync(path, 'utf8')), path, ['transformers']);
const different = golden.rows.filter(row => goldenIds(row).join() !== keptIds(row).join());
for (const row of different.slice(0, 5)) {
  console.error(JSON.stringify({ ...row, expectedIds: goldenIds(row), foundIds: keptIds(row) }));
}
console.log(`${golden.rows.length} rows, ${different.length} with another set of tokens.`);
if (different.length > 0) process.exitCode = 1;
