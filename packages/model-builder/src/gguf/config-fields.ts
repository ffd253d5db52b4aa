// Metadata values of a GGUF file that describe the model, with the faults of wrong ones.

import type { GgufMetadata, GgufModel } from '@ortler/gguf';
import { ModelBuildError } from '../errors.ts';

/** Metadata values by key, with the faults of a wrong type. */
export class ConfigFields {
  readonly #path: string;
  readonly #metadata: GgufMetadata;

  constructor({ path, metadata }: GgufModel) {
    this.#path = path;
    this.#metadata = metadata;
  }

  /** One of `names`. */
  architecture(names: readonly string[]): string {
    const key = 'general.type';
    const type = this.#metadata.get(key) ?? 'model';
    if (type !== 'model') throw this.#fault('unsupported', key, `is ${shown(type)}; allowed is "model"`);
    const name = this.#metadata.get('general.architecture');
    const found = names.find(allowed => allowed === name);
    if (found !== undefined) return found;
    const message = `is ${shown(name)}; allowed are ${names.join(', ')}`;
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

  /** A list of truth values. */
  flags(key: string): readonly boolean[] | undefined {
    const value = this.#metadata.get(key);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every(each => typeof each === 'boolean')) return value;
    throw this.#fault('config_invalid', key, 'must be a list of true and false');
  }

  /** Undefined where it follows from the number of heads. */
  headSize(architecture: string): number | undefined {
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
  ropeScaling(architecture: string): Readonly<Record<string, unknown>> | undefined {
    const key = `${architecture}.rope.scaling.type`;
    const type = this.#metadata.get(key) ?? 'none';
    if (type === 'none') return undefined;
    if (type !== 'linear' && type !== 'yarn')
      throw this.#fault('unsupported', key, `is ${shown(type)}; allowed are "none", "linear", "yarn"`);
    const factor = this.number(`${architecture}.rope.scaling.factor`);
    if (type === 'linear') return { rope_type: 'linear', factor };
    for (const name of ['attn_factor', 'yarn_log_multiplier', 'yarn_ext_factor', 'yarn_attn_factor']) {
      const own = `${architecture}.rope.scaling.${name}`;
      if (this.#metadata.has(own)) throw this.#fault('unsupported', own, 'must be absent');
    }
    const [fast, slow] = ['fast', 'slow'].map(name =>
      this.optionalNumber(`${architecture}.rope.scaling.yarn_beta_${name}`),
    );
    return {
      rope_type: 'yarn',
      factor,
      original_max_position_embeddings: this.count(`${architecture}.rope.scaling.original_context_length`),
      ...(fast !== undefined && { beta_fast: fast }),
      ...(slow !== undefined && { beta_slow: slow }),
    };
  }

  /** Throws: `unsupported` for settings that change the computation. */
  refuseUnsupported(architecture: string, { hasWindows }: { readonly hasWindows: boolean }): void {
    const experts = `${architecture}.expert_count`;
    const expertCount = this.#metadata.get(experts) ?? 0;
    if (expertCount !== 0)
      throw this.#fault('unsupported', experts, `is ${shown(expertCount)}; allowed is 0`);
    const window = `${architecture}.attention.sliding_window`;
    const windowLength = this.#metadata.get(window) ?? 0;
    const contextLength = this.count(`${architecture}.context_length`);
    const hasWindow =
      windowLength !== 0 && !(typeof windowLength === 'number' && windowLength >= contextLength);
    if (hasWindow && !hasWindows)
      throw this.#fault(
        'unsupported',
        window,
        `is ${shown(windowLength)}: this architecture is built without windows`,
      );
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
