// A tiny model as a folder with quantised linear layers, and the same values as a folder in float32.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CONFIG_FILE } from '../architectures/read-decoder-config.ts';
import { SINGLE_WEIGHTS_FILE } from '../hugging-face/checkpoint.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { PackLayer } from './quantised-layers.ts';
import { createTinyCheckpoint, seededTensors, type TinyCheckpointOptions } from './tiny-model.ts';
import { writeRawSafetensors } from './write-raw-safetensors.ts';
import { writeSafetensors } from './write-safetensors.ts';

export interface TinyQuantisedOptions extends Pick<TinyCheckpointOptions, 'modelType' | 'config' | 'seed'> {
  /** Section of config.json. */
  readonly quantisation: Readonly<Record<string, unknown>>;
  readonly pack: PackLayer;
  /** Whether a layer is quantised, by its name. Default: all linear layers of the decoder, not the tables. */
  readonly isQuantised?: (name: string) => boolean;
}

export interface TinyQuantised {
  readonly folder: string;
  /** In float32. */
  readonly source: string;
  readonly config: DecoderConfig;
  /** Values of the quantised matrices by their names in floats. */
  readonly matrices: ReadonlyMap<string, Float32Array>;
}

/** Writes both into `folder`, as `quantised` and `source`. The same options give the same bytes. */
export async function createTinyQuantised(
  folder: string,
  { quantisation, pack, isQuantised = name => name.includes('_proj'), ...options }: TinyQuantisedOptions,
): Promise<TinyQuantised> {
  const source = join(folder, 'source');
  const quantised = join(folder, 'quantised');
  const config = await createTinyCheckpoint(source, options);
  await createTinyCheckpoint(quantised, options);
  const matrices = new Map<string, Float32Array>();
  const tensors = seededTensors(config, options.seed ?? 1).map(({ name, shape, fill }) => {
    const layer = name.replace(/\.weight$/, '');
    if (shape.length === 2 && isQuantised(layer)) {
      const [outputs, inputs] = shape as readonly [number, number];
      const packed = pack({ name: layer, outputs, inputs, seed: options.seed ?? 1 });
      matrices.set(name, packed.values);
      return { name, shape, values: packed.values, raw: packed.tensors };
    }
    const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
    fill(values, 0);
    return { name, shape, values, raw: [{ name, type: 'F32', shape, bytes: new Uint8Array(values.buffer) }] };
  });
  await writeSafetensors(
    join(source, SINGLE_WEIGHTS_FILE),
    'F32',
    tensors.map(({ name, shape, values }) => ({
      name,
      shape,
      fill: (target, start) => target.set(values.subarray(start, start + target.length)),
    })),
  );
  await writeRawSafetensors(
    join(quantised, SINGLE_WEIGHTS_FILE),
    tensors.flatMap(({ raw }) => raw),
  );
  const file = join(quantised, CONFIG_FILE);
  const written = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...written, quantization_config: quantisation }));
  return { folder: quantised, source, config, matrices };
}
