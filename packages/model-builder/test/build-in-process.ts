// A build in a process of its own, for tests that limit, kill or race it. Arguments: checkpoint, then an output
// folder, or `--cache` and a cache folder. Prints the error, or the folder, as JSON.

import { buildModel } from '../src/build-model.ts';
import { ensureModel } from '../src/ensure-model.ts';
import { ModelBuildError } from '../src/errors.ts';

const [sourceDir, ...rest] = process.argv.slice(2) as [string, ...string[]];
const precision = 'f32';
try {
  const built =
    rest[0] === '--cache'
      ? await ensureModel({ sourceDir, cacheDir: rest[1]!, precision })
      : await buildModel({ sourceDir, outputDir: rest[0]!, precision }).then(() => rest[0]);
  console.log(JSON.stringify({ built }));
} catch (error) {
  if (!(error instanceof ModelBuildError)) throw error;
  console.log(JSON.stringify({ code: error.code, file: error.file, message: error.message }));
}
