// Metadata values of a GGUF file that describe the model, with the faults of wrong ones.

import type { GgufMetadata, GgufModel } from '@ortler/gguf';
import { describeOther } from '../architectures/other-models.ts';
import { ModelBuildError } from '../errors.ts';
import { yarnAmplitude } from '../hugging-face/rope.ts';
import { OTHER_ARCHITECTURES } from './other-architectures.ts';

/** A number that a file has in float32 differs by less from the one that was meant. */
const FLOAT32_ERROR = 1e-6;

/** Metadata values by key, with the faults of a wrong type. */
export class ConfigFields {
  readonly #path: string;
  readonly #metadata: GgufMetadata;

  constructor({ path, metadata }: GgufModel) {
    this.#path = path;
    this.#metadata = metadata;
  }

  /** Throws: `unsupported`. */
  refuse(key: string, message: string): never {
    throw this.#fault('unsupported', key, message);
  }

  /** Throws: `config_invalid`. */
  invalid(key: string, message: string): never {
    throw this.#fault('config_invalid', key, message);
  }

  /** One of `names`. */
  architecture(names: readonly string[]): string {
    const key = 'general.type';
    const type = this.#metadata.get(key) ?? 'model';
    if (type !== 'model') throw this.#fault('unsupported', key, `is ${shown(type)}; allowed: "model"`);
    const name = this.#metadata.get('general.architecture');
    const found = names.find(allowed => allowed === name);
    if (found !== undefined) return found;
    const modelType = typeof name === 'string' ? (OTHER_ARCHITECTURES[name] ?? name) : undefined;
    const message = `is ${describeOther(name, modelType)}; supported: ${names.join(', ')}`;
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
    throw this.#fault(code, key, `is ${shown(value)}; allowed: one whole number above 0`);
  }

  /** A number for each layer, or one for all. Undefined where the file has none. */
  layerCounts(key: string): readonly number[] | undefined {
    const value = this.#metadata.get(key);
    if (!ArrayBuffer.isView(value)) {
      const count = this.optionalCount(key);
      return count === undefined ? undefined : [count];
    }
    const counts = Array.from(value as Iterable<number | bigint>, Number);
    if (counts.length > 0 && counts.every(count => Number.isSafeInteger(count) && count > 0)) return counts;
    throw this.#fault('config_invalid', key, 'must be a list of whole numbers above 0');
  }

  /** A whole number for each layer, 0 included. Throws: `config_invalid` where the file has no such list. */
  numbersOfLayers(key: string): readonly number[] {
    const value = this.#metadata.get(key);
    const numbers = ArrayBuffer.isView(value) ? Array.from(value as Iterable<number | bigint>, Number) : [];
    if (numbers.length > 0 && numbers.every(number => Number.isSafeInteger(number) && number >= 0))
      return numbers;
    throw this.#fault('config_invalid', key, 'must be a list of whole numbers, one for each layer');
  }

  /** A whole number that may be 0, which it is where the file does not say it. */
  wholeNumber(key: string): number {
    return this.#metadata.get(key) === 0 ? 0 : (this.optionalCount(key) ?? 0);
  }

  number(key: string): number {
    return this.optionalNumber(key) ?? this.#missing(key);
  }

  optionalNumber(key: string): number | undefined {
    const value = this.#metadata.get(key);
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value) && value > 0))
      return value;
    throw this.#fault('config_invalid', key, `is ${shown(value)}; allowed: numbers above 0`);
  }

  /** Undefined without one, which some files say as 0. Unit: tokens. */
  window(architecture: string): number | undefined {
    return this.wholeNumber(`${architecture}.attention.sliding_window`) || undefined;
  }

  flag(key: string): boolean | undefined {
    const value = this.#metadata.get(key);
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.#fault('config_invalid', key, `is ${shown(value)}; allowed: true and false`);
  }

  /** A list of truth values. */
  flags(key: string): readonly boolean[] | undefined {
    const value = this.#metadata.get(key);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every(each => typeof each === 'boolean')) return value;
    throw this.#fault('config_invalid', key, 'must be a list of true and false');
  }

  /** The size of a head, undefined where it follows from their number, and that of its part that is rotated. */
  headSizes(architecture: string, { rotatesPart = false }: { readonly rotatesPart?: boolean }) {
    const rotated = `${architecture}.rope.dimension_count`;
    const keys = ['key', 'value'].map(name => `${architecture}.attention.${name}_length`);
    const [first, ...others] = (rotatesPart ? keys : [...keys, rotated])
      .map(key => ({ key, size: this.optionalCount(key) }))
      .filter(({ size }) => size !== undefined);
    const other = others.find(({ size }) => size !== first!.size);
    if (other === undefined) return { headSize: first?.size, rotatedSize: this.optionalCount(rotated) };
    const message = `is ${other.size}, and ${first!.key} is ${first!.size}; they must be equal`;
    throw this.#fault('unsupported', other.key, message);
  }

  /** The block of config.json; undefined without scaling. */
  ropeScaling(architecture: string): Readonly<Record<string, unknown>> | undefined {
    const key = `${architecture}.rope.scaling.type`;
    const type = this.#metadata.get(key) ?? 'none';
    if (type === 'none') return undefined;
    if (type !== 'linear' && type !== 'yarn')
      throw this.#fault('unsupported', key, `is ${shown(type)}; supported: "none", "linear", "yarn"`);
    const factor = this.number(`${architecture}.rope.scaling.factor`);
    if (type === 'linear') return { rope_type: 'linear', factor };
    const [fast, slow] = ['fast', 'slow'].map(name =>
      this.optionalNumber(`${architecture}.rope.scaling.yarn_beta_${name}`),
    );
    // 0 is the same as nothing.
    const multiplierKey = `${architecture}.rope.scaling.yarn_log_multiplier`;
    const multiplier =
      this.#metadata.get(multiplierKey) === 0 ? undefined : this.optionalNumber(multiplierKey);
    const scales = multiplier === undefined ? {} : { mscale: 1, mscale_all_dim: multiplier };
    this.#checkYarnFactors(architecture, yarnAmplitude({ factor, ...scales }));
    return {
      rope_type: 'yarn',
      factor,
      original_max_position_embeddings: this.count(`${architecture}.rope.scaling.original_context_length`),
      ...(fast !== undefined && { beta_fast: fast }),
      ...(slow !== undefined && { beta_slow: slow }),
      ...scales,
    };
  }

  /**
   * Converters copy the factor of the rotation from config.json, and llama.cpp computes it from the other settings: it is built where
   * both are the same. The other two are 1 in all published files. Throws: `unsupported`.
   */
  #checkYarnFactors(architecture: string, amplitude: number): void {
    const expected = { attn_factor: 1, yarn_ext_factor: 1, yarn_attn_factor: amplitude };
    for (const [name, value] of Object.entries(expected)) {
      const key = `${architecture}.rope.scaling.${name}`;
      const found = this.optionalNumber(key);
      if (found === undefined || Math.abs(found - value) <= FLOAT32_ERROR * value) continue;
      throw this.#fault('unsupported', key, `is ${found}; it must be absent or ${Math.fround(value)}`);
    }
  }

  /** Throws: `unsupported` for settings that change the computation. */
  refuseUnsupported(
    architecture: string,
    {
      hasWindows = false,
      hasLocalBase = false,
      hasExperts = false,
      hasSections = false,
    }: {
      readonly hasWindows?: boolean;
      readonly hasLocalBase?: boolean;
      readonly hasExperts?: boolean;
      readonly hasSections?: boolean;
    },
  ): void {
    const experts = `${architecture}.expert_count`;
    const expertCount = this.#metadata.get(experts) ?? 0;
    if (expertCount !== 0 && !hasExperts)
      throw this.#fault('unsupported', experts, `is ${shown(expertCount)}; allowed: 0`);
    const window = this.window(architecture);
    const contextLength = this.count(`${architecture}.context_length`);
    if (window !== undefined && window < contextLength && !hasWindows)
      throw this.#fault(
        'unsupported',
        `${architecture}.attention.sliding_window`,
        `is ${window}: this architecture is built without windows`,
      );
    const localKey = `${architecture}.rope.freq_base_swa`;
    const [local, base] = [
      this.optionalNumber(localKey),
      this.optionalNumber(`${architecture}.rope.freq_base`),
    ];
    if (!hasLocalBase && local !== undefined && local !== base)
      throw this.#fault('unsupported', localKey, `is ${local}; it must be absent or that of all layers`);
    // The second one is false in files of Granite that rotate nothing.
    for (const key of [`${architecture}.attention.causal`, 'granite.rope.scaling.finetuned'])
      if (this.#metadata.get(key) === false) throw this.#fault('unsupported', key, 'must be absent or true');
    const sections = `${architecture}.rope.dimension_sections`;
    const found = this.#metadata.get(sections);
    if (found !== undefined && !hasSections)
      throw this.#fault('unsupported', sections, 'must be absent: positions of images are not built');
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
