// Validates config.json of a checkpoint and maps it to the `DecoderConfig` of the graph. Hugging Face's names are used only
// up to here.

import { join } from 'node:path';
import { type ConfigFault, configFault, configFaults } from '../hugging-face/config-file.ts';
import { type Activation, type DecoderConfig, LLAMA_MODULES } from '../hugging-face/decoder-config.ts';
import { readJsonFile } from '../hugging-face/json-file.ts';
import type { Architecture, ConfigReader, LayerPlan } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { describeOther } from './other-models.ts';
import { readConfigKeys } from './read-config-keys.ts';
import { ropeReader } from './read-rope.ts';
import { ARCHITECTURES } from './table.ts';
import { textPart, WRAPPERS } from './text-parts.ts';
import { withDefaults } from './with-defaults.ts';

export const CONFIG_FILE = 'config.json';

/** Reads and checks `config.json` of a folder. Throws: `source_invalid`, `config_invalid`, `unsupported`. */
export async function readDecoderConfig(sourceDir: string): Promise<DecoderConfig> {
  const path = join(sourceDir, CONFIG_FILE);
  return parseDecoderConfig(path, await readJsonFile(path));
}

/** Checks the parsed content of a `config.json`; `path` is for messages. Throws: `config_invalid`, `unsupported`. */
export function parseDecoderConfig(path: string, json: unknown): DecoderConfig {
  const text = textPart(json);
  if (text !== undefined) {
    const config = parseTextConfig(path, text, 'text_config.');
    refuseWrapper(path, config);
    return { ...config, isTextPart: true };
  }
  return parseTextConfig(path, json);
}

/** Throws: `unsupported` for what the text part would compute alone, but not as a part of its wrapper. */
function refuseWrapper(path: string, { modelType, logitSoftcap }: DecoderConfig): void {
  if (modelType !== 'gemma3_text' || logitSoftcap === undefined) return;
  const message = 'must be absent or null: Gemma 3 with images caps no logits';
  throw configFault('unsupported', path, 'text_config.final_logit_softcapping', message);
}

function parseTextConfig(path: string, json: unknown, prefix = ''): DecoderConfig {
  const fault = configFaults(path, prefix);
  const architecture = findArchitecture(fault, json);
  const keys = readConfigKeys(path, withDefaults(architecture, json as Record<string, unknown>), prefix);
  const refuse = (key: string, message: string): never => {
    throw fault('unsupported', key, message);
  };
  const invalid = (key: string, message: string): never => {
    throw fault('config_invalid', key, message);
  };
  refuseUnsupported(architecture, keys, refuse);

  const headCount = keys.num_attention_heads;
  const cached = architecture.cachedHeads?.(keys);
  const kvHeadCount = cached?.count ?? keys.num_key_value_heads ?? headCount;
  const headSize = cached?.size ?? keys.head_dim ?? keys.hidden_size / headCount;
  if (cached === undefined) checkHeads(fault, headCount, kvHeadCount, headSize);
  const rope = ropeReader(fault, keys, headSize);
  const features = architecture.read(keys, { rope, headSize, refuse, invalid } satisfies ConfigReader);
  const { ropes = [rope()], layer = () => ({ rope: 0, window: undefined }), modules, ...rest } = features;
  const ordinary = {
    headSize,
    kvHeadCount,
    intermediateSize: features.experts === undefined ? keys.intermediate_size : 0,
    hasExperts: features.experts !== undefined,
    valuesAreKeys: false,
    kvSource: undefined,
    recurrent: undefined,
  };
  return {
    modelType: keys.model_type,
    hiddenSize: keys.hidden_size,
    intermediateSize: keys.intermediate_size,
    layerCount: keys.num_hidden_layers,
    predictionLayerCount: 0,
    headCount,
    kvHeadCount,
    headSize,
    vocabSize: keys.vocab_size,
    contextLength: keys.max_position_embeddings,
    tiedEmbeddings: keys.tie_word_embeddings ?? false,
    isTextPart: false,
    activation: readActivation(architecture, keys, refuse),
    isGated: true,
    isParallel: false,
    latent: undefined,
    queryKeyNorm: 'none',
    normsValues: false,
    attentionScale: undefined,
    attentionSoftcap: undefined,
    queryScale: undefined,
    gatesAttention: false,
    qkvBias: false,
    attentionOutputBias: false,
    mlpBias: false,
    hasSinks: false,
    experts: undefined,
    embeddingScale: 1,
    residualScale: 1,
    matrixScales: {},
    logitScale: 1,
    logitSoftcap: undefined,
    hasLayerScale: false,
    perLayerInput: undefined,
    ...rest,
    norm: features.norm ?? {
      kind: 'rms',
      epsilon: keys.rms_norm_eps ?? invalid('rms_norm_eps', 'is missing'),
      weightOffset: 0,
      hasBias: false,
    },
    ropes,
    layers: Array.from({ length: keys.num_hidden_layers }, (_, index) => {
      const own: ReturnType<LayerPlan['layer']> = layer(index);
      return { ...ordinary, hasAttention: own.recurrent === undefined, ...own };
    }),
    modules: { ...LLAMA_MODULES, ...modules },
  };
}

/** Throws: `unsupported` for a model type that is not built. */
function findArchitecture(fault: ConfigFault, json: unknown): Architecture {
  const modelType = (json as { model_type?: unknown } | null)?.model_type;
  const architecture = typeof modelType === 'string' ? ARCHITECTURES.get(modelType) : undefined;
  if (architecture !== undefined) return architecture;
  const allowed = [...ARCHITECTURES.keys(), ...WRAPPERS.keys()].toSorted().join(', ');
  throw fault('unsupported', 'model_type', `is ${describeOther(modelType)}; supported: ${allowed}`);
}

function refuseUnsupported(
  { readsLayerTypes = false, readsLayerConfigs = false }: Architecture,
  keys: ConfigKeys,
  refuse: ConfigReader['refuse'],
): void {
  // A decoder without a causal mask, as in embedding models, cannot generate token by token.
  if (keys.is_causal === false) refuse('is_causal', 'must be absent or true');
  // "vision": among the tokens of an image only, and images are refused.
  if (keys.use_bidirectional_attention && keys.use_bidirectional_attention !== 'vision')
    refuse('use_bidirectional_attention', 'must be absent, false or "vision"');
  if (Object.keys(keys.per_layer_config ?? {}).length > 0 && !readsLayerConfigs)
    refuse('per_layer_config', 'must be absent or empty: all layers are alike');
  const otherLayer = keys.layer_types?.find(type => type !== 'full_attention');
  if (otherLayer !== undefined && !readsLayerTypes)
    refuse('layer_types', `holds "${otherLayer}"; allowed: "full_attention"`);
}

/** Names that transformers has for one function. Source: transformers, activations.py */
const ACTIVATION_ALIASES: Readonly<Record<string, string>> = { swish: 'silu' };

function readActivation(
  { activationKey = 'hidden_act', activations = { silu: 'silu' } }: Architecture,
  keys: ConfigKeys,
  refuse: ConfigReader['refuse'],
): Activation {
  const names = Object.keys(activations);
  const name = keys[activationKey] ?? names[0]!;
  const alias = Object.hasOwn(ACTIVATION_ALIASES, name) ? ACTIVATION_ALIASES[name]! : name;
  const activation = Object.hasOwn(activations, alias) ? activations[alias] : undefined;
  if (activation !== undefined) return activation;
  const allowed = names.map(allowedName => JSON.stringify(allowedName)).join(', ');
  return refuse(activationKey, `is ${JSON.stringify(name)}; allowed: ${allowed}`);
}

function checkHeads(fault: ConfigFault, headCount: number, kvHeadCount: number, headSize: number): void {
  if (headCount % kvHeadCount !== 0) {
    const message = `is ${kvHeadCount}; it must divide num_attention_heads, ${headCount}`;
    throw fault('config_invalid', 'num_key_value_heads', message);
  }
  // GroupQueryAttention takes rotary tables of at most `headSize / 16 * 8` columns, so other sizes would be rotated only in
  // part.
  if (!Number.isInteger(headSize) || headSize % 16 !== 0) {
    throw fault('unsupported', 'head_dim', `is ${headSize}; allowed: multiples of 16`);
  }
}
