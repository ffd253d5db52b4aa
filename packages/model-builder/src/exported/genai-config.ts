// Reads genai_config.json, the settings file of onnxruntime-genai, and refuses by name what the runners cannot run: models of
// several graphs, states beside the KV cache, other names of inputs and outputs.
// Source of the keys: onnxruntime-genai's model builder and its documentation of the file.

import { isAbsolute, join, normalize } from 'node:path';
import { MASK_INPUT, SLOTS_OUTPUT } from '@ortler/engine/graph-contract';
import { z } from 'zod';
import { ModelBuildError } from '../errors.ts';
import { readJsonFile } from '../hugging-face/json-file.ts';
import { LAYOUT_NAMES } from './export-settings.ts';
import { parseSettings } from './parse-settings.ts';

export const GENAI_CONFIG_FILE = 'genai_config.json';

const tokenId = z.int().nonnegative();
const size = z.int().positive();
const names = z.record(z.string(), z.unknown());

/** The parts that decide whether the strict schema applies. */
const anyModel = z.looseObject({
  model: z.looseObject({
    type: z.string().optional(),
    decoder: z.looseObject({ inputs: names.optional(), pipeline: z.unknown().optional() }).optional(),
  }),
});

const slidingWindow = z.object({
  window_size: size.optional(),
  // The defaults of the runtime.
  slide_key_value_cache: z.boolean().default(true),
  slide_inputs: z.boolean().default(true),
});

const genaiConfig = z.object({
  model: z.object({
    type: z.string(),
    context_length: size,
    vocab_size: size,
    bos_token_id: tokenId.nullish(),
    eos_token_id: z.union([tokenId, z.array(tokenId).nonempty()]).nullish(),
    pad_token_id: tokenId.nullish(),
    decoder: z.object({
      filename: z.string().min(1),
      hidden_size: size,
      head_size: size,
      num_attention_heads: size,
      num_key_value_heads: size,
      num_hidden_layers: size,
      inputs: names,
      outputs: names,
      sliding_window: slidingWindow.nullish(),
    }),
  }),
  search: z.record(z.string(), z.unknown()).default({}),
});

export type GenaiConfig = z.infer<typeof genaiConfig>;

/** Throws: `source_invalid`, `config_invalid`, `unsupported` with the layout, the key, and the way to a model that is run. */
export async function readGenaiConfig(folder: string): Promise<GenaiConfig> {
  const file = join(folder, GENAI_CONFIG_FILE);
  const value = await readJsonFile(file);
  refuseOtherKinds(file, parseSettings(anyModel, file, value).model);
  const config = parseSettings(genaiConfig, file, value);
  const { decoder } = config.model;
  checkNames(file, 'inputs', decoder.inputs, INPUT_NAMES);
  checkNames(file, 'outputs', decoder.outputs, OUTPUT_NAMES);
  const window = decoder.sliding_window;
  if (window?.slide_inputs || window?.slide_key_value_cache)
    throw unsupported(
      file,
      'model.decoder.sliding_window',
      'moves its inputs or its KV cache with a window of fixed size, as graphs for an NPU do; export it for CPU, CUDA or WebGPU',
    );
  const path = normalize(decoder.filename);
  if (isAbsolute(path) || path.startsWith('..'))
    throw unsupported(file, 'model.decoder.filename', 'names a graph outside its folder');
  return config;
}

/** Inputs that a decoder may have, and the names that the runners use. */
const INPUT_NAMES: Readonly<Record<string, string>> = {
  input_ids: MASK_INPUT.inputIds,
  attention_mask: MASK_INPUT.attentionMask,
  position_ids: MASK_INPUT.positionIds,
  past_key_names: 'past_key_values.%d.key',
  past_value_names: 'past_key_values.%d.value',
};

/** Outputs that the runners use; other outputs are not computed. */
const OUTPUT_NAMES: Readonly<Record<string, string>> = {
  logits: SLOTS_OUTPUT.logits,
  present_key_names: 'present.%d.key',
  present_value_names: 'present.%d.value',
};

/** Reasons for refusing inputs that onnxruntime-genai has for other kinds of models. */
const OTHER_INPUTS: Readonly<Record<string, string>> = {
  past_conv_names:
    'has convolution layers (LFM2, Qwen3.5) whose state is kept beside the KV cache; only attention layers are run',
  past_recurrent_names:
    'has linear attention layers (Qwen3.5) whose state is kept beside the KV cache; only layers with a KV cache are run',
  block_table:
    'was exported with PagedAttention (use_paged_attention), whose inputs differ; export it again without',
  inputs_embeds: 'takes embeddings, which another graph computes; only models of one graph are run',
  encoder_hidden_states: 'is the decoder of an encoder-decoder model; only decoder-only models are run',
  past_key_scale_names: 'has a quantised KV cache; export it again with one in float32 or float16',
};

type AnyModel = z.infer<typeof anyModel>['model'];

function refuseOtherKinds(file: string, model: AnyModel): void {
  const kind = model.type === undefined ? 'the model' : `the model (${model.type})`;
  const others = Object.entries(model).filter(
    ([key, value]) => key !== 'decoder' && typeof value === 'object' && value !== null && 'filename' in value,
  );
  if (others.length > 0) {
    const list = others.map(([key]) => key).join(', ');
    throw unsupported(
      file,
      `model.${others[0]![0]}`,
      `says that ${kind} has other graphs beside the decoder (${list}), as models of images, speech or encoder and decoder do; only text models of one decoder graph are run`,
    );
  }
  const { decoder } = model;
  if (decoder === undefined)
    throw unsupported(
      file,
      'model.decoder',
      `says that ${kind} has no decoder; only decoders of text are run`,
    );
  if (decoder.pipeline !== undefined && decoder.pipeline !== null)
    throw unsupported(
      file,
      'model.decoder.pipeline',
      `splits the decoder of ${kind} into several graphs, as folders for an NPU do; only one graph is run: use the folder for CPU, CUDA or WebGPU`,
    );
  for (const [key, reason] of Object.entries(OTHER_INPUTS))
    if (decoder.inputs?.[key] !== undefined)
      throw unsupported(file, `model.decoder.inputs.${key}`, `says that ${kind} ${reason}`);
}

function checkNames(
  file: string,
  part: 'inputs' | 'outputs',
  found: Readonly<Record<string, unknown>>,
  allowed: Readonly<Record<string, string>>,
): void {
  for (const [key, name] of Object.entries(found)) {
    const needed = allowed[key];
    if (needed === undefined && part === 'outputs') continue;
    if (name === needed) continue;
    const problem =
      needed === undefined
        ? `names an input that no runner has; allowed: ${Object.keys(allowed).join(', ')}`
        : `is ${JSON.stringify(name)}; only ${JSON.stringify(needed)} is run`;
    throw unsupported(file, `model.decoder.${part}.${key}`, problem);
  }
}

function unsupported(file: string, key: string, problem: string): ModelBuildError {
  const message = `${file} (layout of ${LAYOUT_NAMES.genai}), key ${key}: ${problem}`;
  return new ModelBuildError('unsupported', message, { file, key });
}
