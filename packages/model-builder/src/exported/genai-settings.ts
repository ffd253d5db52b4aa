// Settings of a folder in the layout of onnxruntime-genai: genai_config.json, and the tokenizer files beside it. Its end tokens
// and sampling settings become a generation_config.json, from which the engine reads them.

import { join } from 'node:path';
import { z } from 'zod';
import { listCompanionFiles } from '../copy-companions.ts';
import { readJsonFile } from '../hugging-face/json-file.ts';
import type { ExportSettings } from './export-settings.ts';
import { GENAI_CONFIG_FILE, type GenaiConfig, readGenaiConfig } from './genai-config.ts';
import { findCpuFolder } from './genai-folders.ts';
import { parseSettings } from './parse-settings.ts';

const GENERATION_FILE = 'generation_config.json';

/** Throws: `source_invalid`, `config_invalid`, `unsupported`. */
export async function readGenaiSettings(folder: string): Promise<ExportSettings> {
  const config = await readGenaiConfig(folder);
  const { model } = config;
  const companions = await listCompanionFiles(folder, ['tokenizer.json']);
  const own = companions.includes(GENERATION_FILE) ? await readOwnGeneration(folder) : undefined;
  const cpuFolder = await findCpuFolder(folder);
  return {
    configFile: join(folder, GENAI_CONFIG_FILE),
    config: {
      modelType: model.type,
      hiddenSize: model.decoder.hidden_size,
      vocabSize: model.vocab_size,
      contextLength: model.context_length,
    },
    repeated: {
      layerCount: model.decoder.num_hidden_layers,
      headCount: model.decoder.num_attention_heads,
      kvHeadCount: model.decoder.num_key_value_heads,
      headSize: model.decoder.head_size,
    },
    windowSize: model.decoder.sliding_window?.window_size,
    sources: [GENAI_CONFIG_FILE, ...companions],
    copied: companions.filter(name => name !== GENERATION_FILE),
    written: new Map([[GENERATION_FILE, `${JSON.stringify(toGeneration(config, own), null, 2)}\n`]]),
    cpuChoice: cpuFolder ?? 'the variant for the CPU, in a folder such as cpu_and_mobile/',
  };
}

/** Sampling settings of `search` that have the same meaning in generation_config.json. */
const SAMPLING_KEYS = ['temperature', 'top_k', 'top_p', 'min_p'] as const;

/**
 * The tokens are those of genai_config.json. The sampling settings are those of the folder's own generation_config.json where
 * it has one, because `search` repeats them and fills gaps; else those of `search`, unless `do_sample` says that they are not
 * in use. `max_length` is not a recommendation: it is the length of the context.
 */
function toGeneration(
  { model, search }: GenaiConfig,
  own: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> {
  const sampling = search.do_sample === true ? pick(search, SAMPLING_KEYS) : {};
  return {
    ...(own ?? { ...sampling, ...pick(search, ['repetition_penalty']) }),
    ...pick(model, ['bos_token_id', 'eos_token_id', 'pad_token_id']),
  };
}

function pick(
  from: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    keys.filter(key => from[key] !== undefined && from[key] !== null).map(key => [key, from[key]]),
  );
}

async function readOwnGeneration(folder: string): Promise<Readonly<Record<string, unknown>>> {
  const file = join(folder, GENERATION_FILE);
  return parseSettings(z.record(z.string(), z.unknown()), file, await readJsonFile(file));
}
