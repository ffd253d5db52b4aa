// Settings of an export in the layout of Optimum and transformers.js: config.json and the files beside it.

import { join } from 'node:path';
import { z } from 'zod';
import { listCompanionFiles } from '../copy-companions.ts';
import { readJsonFile } from '../hugging-face/json-file.ts';
import type { ExportSettings } from './export-settings.ts';
import { parseSettings } from './parse-settings.ts';

/** Keys of config.json for facts that the graph does not contain. */
const exportConfig = z.object({
  model_type: z.string(),
  hidden_size: z.int().positive(),
  vocab_size: z.int().positive(),
  max_position_embeddings: z.int().positive(),
});

/** File names of float32 graphs. */
const FLOAT32_FILES = 'model.onnx, model_q8.onnx or model_q4.onnx';

/** Throws: `source_invalid`, `config_invalid`. */
export async function readOptimumSettings(folder: string): Promise<ExportSettings> {
  const companions = await listCompanionFiles(folder);
  const configFile = join(folder, 'config.json');
  const config = parseSettings(exportConfig, configFile, await readJsonFile(configFile));
  return {
    configFile,
    config: {
      modelType: config.model_type,
      hiddenSize: config.hidden_size,
      vocabSize: config.vocab_size,
      contextLength: config.max_position_embeddings,
    },
    repeated: undefined,
    windowSize: undefined,
    sources: companions,
    copied: companions,
    written: new Map(),
    cpuChoice: FLOAT32_FILES,
  };
}
