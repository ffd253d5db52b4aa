// Writes PEFT LoRA adapter folders, for tests and examples that need one without training.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckpointType } from '../hugging-face/element-types.ts';
import { ADAPTER_WEIGHTS_FILE } from '../lora/adapter.ts';
import { ADAPTER_CONFIG_FILE } from '../lora/adapter-config.ts';
import { type TensorToWrite, writeSafetensors } from './write-safetensors.ts';

/** Writes both files; `config` is added to the smallest configuration that PEFT accepts. */
export async function writeAdapter(
  folder: string,
  config: Readonly<Record<string, unknown>>,
  tensors: readonly TensorToWrite[],
  type: CheckpointType = 'F32',
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const json = { peft_type: 'LORA', task_type: 'CAUSAL_LM', ...config };
  await writeFile(join(folder, ADAPTER_CONFIG_FILE), `${JSON.stringify(json, null, 2)}\n`);
  await writeSafetensors(join(folder, ADAPTER_WEIGHTS_FILE), type, tensors);
}

/** The smallest adapter folder that is valid by itself: rank one, of no base. `config` is added to its configuration. */
export function createTinyAdapter(
  folder: string,
  config: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const target = 'base_model.model.model.layers.0.self_attn.q_proj';
  const fill = () => undefined;
  return writeAdapter(folder, { r: 1, lora_alpha: 1, target_modules: ['q_proj'], ...config }, [
    { name: `${target}.lora_A.weight`, shape: [1, 2], fill },
    { name: `${target}.lora_B.weight`, shape: [2, 1], fill },
  ]);
}
