// Reads adapter_config.json of a PEFT adapter: rank and scale of each low-rank product. Refuses every setting that makes the
// adapter more than plain LoRA, `W + scale * B * A`.
// Source: peft, tuners/lora/config.py and utils/other.py (get_pattern_key)

import { join } from 'node:path';
import { z } from 'zod';
import { configFault, parseConfigFile } from '../hugging-face/config-file.ts';
import { readJsonFile } from '../hugging-face/json-file.ts';

export const ADAPTER_CONFIG_FILE = 'adapter_config.json';

const positive = z.number().positive();

const adapterConfigFile = z.looseObject({
  peft_type: z.string(),
  r: z.int().positive(),
  lora_alpha: positive,
  use_rslora: z.boolean().default(false),
  target_modules: z.union([z.array(z.string()), z.string()]).nullish(),
  rank_pattern: z.record(z.string(), z.int().positive()).nullish(),
  alpha_pattern: z.record(z.string(), positive).nullish(),
  fan_in_fan_out: z.boolean().default(false),
  bias: z.string().default('none'),
  modules_to_save: z.array(z.string()).nullish(),
  init_lora_weights: z.union([z.boolean(), z.string()]).nullish(),
});

type AdapterConfigFile = z.infer<typeof adapterConfigFile>;

/** Keys without effect on the merged weights: training options, names, and restrictions of trained modules. */
const WITHOUT_EFFECT = new Set([
  'auto_mapping',
  'base_model_name_or_path',
  'corda_config',
  'ensure_weight_tying',
  'eva_config',
  'exclude_modules',
  'inference_mode',
  'layers_pattern',
  'layers_to_transform',
  'loftq_config',
  'lora_dropout',
  'lora_ga_config',
  'megatron_config',
  'megatron_core',
  'peft_version',
  'qalora_group_size',
  'revision',
  'runtime_config',
  'task_type',
]);

/** Initialisations that do not change the base weights; others subtract the initial product of the adapter from them. */
const BASE_KEEPING_INITIALISATIONS = new Set(['gaussian', 'eva', 'orthogonal']);

/** Rank and scale of one module. */
export interface ModuleRank {
  readonly rank: number;
  /** Factor of the product `B * A`. */
  readonly scale: number;
}

export interface AdapterConfig {
  readonly path: string;
  /** Rank and scale of a module by its full name: `model.layers.0.self_attn.q_proj`. */
  rankOf(module: string): ModuleRank;
  /** Whether `target_modules` lists this module; always true where it is a pattern. */
  isTarget(module: string): boolean;
}

/** Reads the file of an adapter folder. Throws: `source_invalid`, `config_invalid`, `unsupported`. */
export async function readAdapterConfig(adapterDir: string): Promise<AdapterConfig> {
  const path = join(adapterDir, ADAPTER_CONFIG_FILE);
  return parseAdapterConfig(path, await readJsonFile(path));
}

/** Validates the parsed content; `path` is for messages. Throws: `config_invalid`, `unsupported`. */
export function parseAdapterConfig(path: string, json: unknown): AdapterConfig {
  const file = parseConfigFile(adapterConfigFile, path, json);
  refuseUnsupported(path, file);
  const ranks = readPattern(path, 'rank_pattern', file.rank_pattern);
  const alphas = readPattern(path, 'alpha_pattern', file.alpha_pattern);
  return {
    path,
    rankOf(module) {
      const rank = ranks(module) ?? file.r;
      const alpha = alphas(module) ?? file.lora_alpha;
      return { rank, scale: alpha / (file.use_rslora ? Math.sqrt(rank) : rank) };
    },
    isTarget(module) {
      const targets = file.target_modules;
      return !Array.isArray(targets) || targets.some(target => isNamed(module, target));
    },
  };
}

function refuseUnsupported(path: string, file: AdapterConfigFile): void {
  const refuse = (key: string, message: string): never => {
    throw configFault('unsupported', path, key, message);
  };
  if (file.peft_type !== 'LORA') refuse('peft_type', `is ${JSON.stringify(file.peft_type)}; allowed: "LORA"`);
  if (file.bias !== 'none') refuse('bias', `is ${JSON.stringify(file.bias)}; allowed: "none"`);
  if (file.fan_in_fan_out)
    refuse('fan_in_fan_out', 'must be false: the matrices of these models are [out, in]');
  if (file.modules_to_save?.length)
    refuse('modules_to_save', `is [${file.modules_to_save}]; whole modules are not taken from an adapter`);
  const start = file.init_lora_weights;
  if (typeof start === 'string' && !BASE_KEEPING_INITIALISATIONS.has(start)) {
    const message = `is ${JSON.stringify(start)}, which changes the base; convert the adapter to plain LoRA when it is saved`;
    refuse('init_lora_weights', message);
  }
  // An unknown key may change the adapter's computation, as use_dora does.
  for (const [key, value] of Object.entries(file)) {
    if (key in adapterConfigFile.shape || WITHOUT_EFFECT.has(key) || isEmpty(value)) continue;
    refuse(key, `is ${JSON.stringify(value)}; it must be absent, false or empty: only plain LoRA is merged`);
  }
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** The value of the first key that names a module. Throws: `unsupported` for keys that are regular expressions. */
function readPattern(
  path: string,
  name: string,
  pattern: Readonly<Record<string, number>> | null | undefined,
): (module: string) => number | undefined {
  const entries = Object.entries(pattern ?? {});
  for (const [key] of entries) {
    if (/^\^?[\w.]+$/.test(key)) continue;
    const message =
      'is a regular expression; allowed: module names, whole (^model.layers.0.mlp.up_proj) or their last parts (up_proj)';
    throw configFault('unsupported', path, `${name}.${key}`, message);
  }
  return module =>
    entries.find(([key]) => (key.startsWith('^') ? module === key.slice(1) : isNamed(module, key)))?.[1];
}

/** Whether `name` is the module's whole name or its last parts. */
function isNamed(module: string, name: string): boolean {
  return module === name || module.endsWith(`.${name}`);
}
