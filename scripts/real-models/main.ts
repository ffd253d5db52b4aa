// Downloads the real models of tests and benchmarks into `.cache/real-models`: `npm run test-models`.

import { ensureRealModel } from './ensure-real-model.ts';
import { REAL_MODELS, REAL_MODELS_FOLDER } from './real-models.ts';
import { reportProgress } from './report-progress.ts';

for (const model of Object.values(REAL_MODELS)) {
  const path = await ensureRealModel(model, { folder: REAL_MODELS_FOLDER, onProgress: reportProgress() });
  console.error(`${path} is there.`);
}
