// The configuration of a GGUF file: its metadata as a config.json, which is checked as one, and the rest that config.json cannot
// say.
// Source: gguf-py, constants.py (Keys); llama.cpp, convert_hf_to_gguf.py.

import type { GgufMetadata, GgufModel } from '@ortler/gguf';
import { parseDecoderConfig } from '../architectures/read-decoder-config.ts';
import { ModelBuildError } from '../errors.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import { readingGguf } from './gguf-fault.ts';
import { ROPE_FACTORS } from './tensor-names.ts';

/** Architectures of GGUF files that are built. Their names are those of config.json. */
const ARCHITECTURES = ['llama', 'qwen2', 'qwen3'] as const;

type Architecture = (typeof ARCHITECTURES)[number];

export interface GgufConfig {
  readonly config: DecoderConfig;
  /** Content of the config.json of the model folder. */
  readonly configJson: Readonly<Record<string, unknown>>;
}

/** Throws: `unsupported`, `config_invalid`, `tensor_missing`, `tensor_mismatch`. */
export async function readGgufConfig(model: GgufModel): Promise<GgufConfig> {
  const fields = new Fields(model);
  const architecture = fields.architecture();
  const scalingJson = fields.ropeScaling(architecture);
  fields.refuseUnsupported(architecture);
  const headCount = fields.count(`${architecture}.attention.head_count`);
  const hiddenSize = fields.count(`${architecture}.embedding_length`);
  const headSize = fields.headSize(architecture) ?? hiddenSize / headCount;
  const has = (name: string) => model.has(name);
  const configJson = {
    model_type: architecture,
    hidden_size: hiddenSize,
    intermediate_size: fields.count(`${architecture}.feed_forward_length`),
    num_hidden_layers: fields.count(`${architecture}.block_count`),
    num_attention_heads: headCount,
    num_key_value_heads: fields.optionalCount(`${architecture}.attention.head_count_kv`) ?? headCount,
    head_dim: headSize,
    vocab_size: vocabularySize(model),
    max_position_embeddings: fields.count(`${architecture}.context_length`),
    rms_norm_eps: fields.number(`${architecture}.attention.layer_norm_rms_epsilon`),
    hidden_act: 'silu',
    rope_theta: fields.optionalNumber(`${architecture}.rope.freq_base`) ?? 10_000,
    ...(scalingJson === undefined ? {} : { rope_scaling: scalingJson }),
    tie_word_embeddings: !has('output.weight'),
    attention_bias: has('blk.0.attn_q.bias'),
    mlp_bias: has('blk.0.ffn_gate.bias'),
  };
  const config = parseDecoderConfig(model.path, configJson);
  const factors = await readRopeFactors(model, config.headSize);
  if (factors !== undefined && scalingJson !== undefined) {
    const message = `${model.path}, tensor "${ROPE_FACTORS}": is there beside ${architecture}.rope.scaling.type; allowed is one of them`;
    throw new ModelBuildError('unsupported', message, { file: model.path, tensor: ROPE_FACTORS });
  }
  return {
    configJson,
    config: {
      ...config,
      ...(factors === undefined
        ? {}
        : { ropes: config.ropes.map(rope => ({ ...rope, scaling: { kind: 'factors' as const, factors } })) }),
      // In config.json one key says both.
      attentionOutputBias: has('blk.0.attn_output.bias'),
    },
  };
}

/** Rows of the embedding table, which may have more than there are tokens. Throws: `tensor_missing`. */
function vocabularySize(model: GgufModel): number {
  const name = 'token_embd.weight';
  const rows = model.tensor(name)?.dimensions[1];
  if (rows !== undefined) return rows;
  const message = `${model.path}: no file of the model holds the matrix "${name}"`;
  throw new ModelBuildError('tensor_missing', message, { file: model.path, tensor: name });
}

/** Undefined where the file has none. Throws: `tensor_mismatch`. */
async function readRopeFactors(model: GgufModel, headSize: number): Promise<number[] | undefined> {
  const tensor = model.tensor(ROPE_FACTORS);
  if (tensor === undefined) return undefined;
  const [file, half] = [model.fileOf(ROPE_FACTORS), headSize / 2];
  const refuse = (fault: string) =>
    new ModelBuildError('tensor_mismatch', `${file}, tensor "${ROPE_FACTORS}": ${fault}`, {
      file,
      tensor: ROPE_FACTORS,
    });
  if (tensor.dimensions.length !== 1 || tensor.dimensions[0] !== half)
    throw refuse(`has dimensions [${tensor.dimensions}]; heads of ${headSize} elements ask for [${half}]`);
  const factors = new Float32Array(half);
  await readingGguf(() => model.readFloats(ROPE_FACTORS, 0, factors));
  const other = factors.find(factor => !(Number.isFinite(factor) && factor > 0));
  if (other !== undefined) throw refuse(`has the factor ${other}; factors must be above 0`);
  return [...factors];
}

/** Metadata values by key, with the faults of a wrong type. */
class Fields {
  readonly #path: string;
  readonly #metadata: GgufMetadata;

  constructor({ path, metadata }: GgufModel) {
    this.#path = path;
    this.#metadata = metadata;
  }

  architecture(): Architecture {
    const key = 'general.type';
    const type = this.#metadata.get(key) ?? 'model';
    if (type !== 'model') throw this.#fault('unsupported', key, `is ${shown(type)}; allowed is "model"`);
    const name = this.#metadata.get('general.architecture');
    const found = ARCHITECTURES.find(architecture => architecture === name);
    if (found !== undefined) return found;
    const message = `is ${shown(name)}; allowed are ${ARCHITECTURES.join(', ')}`;
    throw this.#fault('unsupported', 'general.architecture', message);
  }

  count(key: string): number {
    return this.optionalCount(key) ?? this.#missing(key);
  }

  optionalCount(key: string): number | undefined {
    const value = this.#metadata.get(key);
    if (value === undefined) return undefined;
    const count = typeof value === 'bigint' ? Number(value) : value;
    if (typeof count === 'number' && Number.isSafeInteger(count) && count > 0) return count;
    // Lists of a number per layer are of models whose layers differ.
    const code = typeof value === 'object' ? 'unsupported' : 'config_invalid';
    throw this.#fault(code, key, `is ${shown(value)}; allowed is one whole number above 0`);
  }

  number(key: string): number {
    return this.optionalNumber(key) ?? this.#missing(key);
  }

  optionalNumber(key: string): number | undefined {
    const value = this.#metadata.get(key);
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value) && value > 0))
      return value;
    throw this.#fault('config_invalid', key, `is ${shown(value)}; allowed are numbers above 0`);
  }

  /** Undefined where it follows from the number of heads. */
  headSize(architecture: Architecture): number | undefined {
    const keys = ['attention.key_length', 'attention.value_length', 'rope.dimension_count'];
    const [first, ...others] = keys
      .map(name => ({ key: `${architecture}.${name}`, size: this.optionalCount(`${architecture}.${name}`) }))
      .filter(({ size }) => size !== undefined);
    const other = others.find(({ size }) => size !== first!.size);
    if (other === undefined) return first?.size;
    const message = `is ${other.size}, and ${first!.key} is ${first!.size}; they must be equal`;
    throw this.#fault('unsupported', other.key, message);
  }

  /** The block of config.json; undefined without scaling. */
  ropeScaling(architecture: Architecture): Readonly<Record<string, unknown>> | undefined {
    const key = `${architecture}.rope.scaling.type`;
    const type = this.#metadata.get(key) ?? 'none';
    if (type === 'none') return undefined;
    if (type !== 'linear')
      throw this.#fault('unsupported', key, `is ${shown(type)}; allowed are "none", "linear"`);
    return { rope_type: 'linear', factor: this.number(`${architecture}.rope.scaling.factor`) };
  }

  /** Throws: `unsupported` for settings that change the computation. */
  refuseUnsupported(architecture: Architecture): void {
    const experts = `${architecture}.expert_count`;
    const expertCount = this.#metadata.get(experts) ?? 0;
    if (expertCount !== 0)
      throw this.#fault('unsupported', experts, `is ${shown(expertCount)}; allowed is 0`);
    const window = `${architecture}.attention.sliding_window`;
    const windowLength = this.#metadata.get(window) ?? 0;
    const contextLength = this.count(`${architecture}.context_length`);
    if (windowLength !== 0 && !(typeof windowLength === 'number' && windowLength >= contextLength))
      throw this.#fault('unsupported', window, `is ${shown(windowLength)}: sliding windows are not built`);
    const causal = `${architecture}.attention.causal`;
    if (this.#metadata.get(causal) === false)
      throw this.#fault('unsupported', causal, 'must be absent or true');
  }

  #missing(key: string): never {
    throw this.#fault('config_invalid', key, 'is missing');
  }

  #fault(code: 'config_invalid' | 'unsupported', key: string, message: string): ModelBuildError {
    const text = `${this.#path}, metadata key "${key}": ${message}`;
    return new ModelBuildError(code, text, { file: this.#path, key });
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return value === undefined ? 'absent' : String(value);
}
