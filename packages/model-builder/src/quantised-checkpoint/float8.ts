// Linear layers in FP8 (E4M3), with a scale for the whole matrix, for each output, for groups of inputs, or for blocks of both:
//   weight[output, input] = float8[output, input] * scale[block of the output, block of the input]
//
//   weight            [outputs, inputs]   F8_E4M3
//   weight_scale, or weight_scale_inv     one, [outputs], [outputs, groups] or [blocks of outputs, blocks of inputs]
//
// In spite of its name `weight_scale_inv` is multiplied too: it is the inverse of the scale that the weights were multiplied with.
// Source: transformers, integrations/finegrained_fp8.py; compressed-tensors, compressors/naive_quantized.

import { assertInvariant } from '../errors.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import type { Float8Scheme } from './schemes.ts';
import { elementCount, type ModuleTensor, pairOf, readScales, type StoredModule } from './stored-module.ts';

/** Blocks that share a scale, in outputs and inputs. */
interface ScaleBlocks {
  readonly rows: number;
  readonly columns: number;
  /** Scales in a row. */
  readonly width: number;
}

/** Throws: `tensor_missing`, `tensor_mismatch`, `weights_corrupt`. */
export async function openFloat8(
  module: StoredModule,
  schemes: readonly Float8Scheme[],
): Promise<CheckpointTensor> {
  const weight = module.tensor('weight');
  const scale = module.find('weight_scale_inv') ?? module.tensor('weight_scale');
  const shape = pairOf(weight, '[outputs, inputs]');
  const inputs = shape[1];
  const blocks = findBlocks(scale, shape, schemes);
  const scales = await readFloat8Scales(scale);
  return {
    name: weight.name,
    shape,
    quantised: { type: 'FP8', codes: undefined },
    async readFloats(from, target) {
      const isWhole = from % inputs === 0 && target.length % inputs === 0;
      assertInvariant(isWhole, `${weight.name} is read in whole rows`);
      const bytes = new Uint8Array(target.length);
      await weight.readBytes(from, bytes);
      for (let i = 0; i < bytes.length; i++)
        if ((bytes[i]! & 0x7f) === 0x7f)
          throw weight.fault('tensor_mismatch', `element ${from + i} is NaN; weights must be finite`);
      const values = float8Values();
      for (let row = 0; row < target.length / inputs; row++) {
        const scaleStart = Math.floor((from / inputs + row) / blocks.rows) * blocks.width;
        for (let input = 0; input < inputs; input++) {
          const at = row * inputs + input;
          target[at] = values[bytes[at]!]! * scales[scaleStart + Math.floor(input / blocks.columns)]!;
        }
      }
    },
  };
}

/** Throws: `tensor_mismatch`. */
function findBlocks(
  scale: ModuleTensor,
  [outputs, inputs]: readonly [number, number],
  schemes: readonly Float8Scheme[],
): ScaleBlocks {
  if (elementCount(scale) === 1) return { rows: outputs, columns: inputs, width: 1 };
  const [rows, columns = 1] = scale.shape;
  if (scale.shape.length <= 2 && rows === outputs && columns === 1)
    return { rows: 1, columns: inputs, width: 1 };
  const declared = schemes.flatMap(({ block }) => block ?? []);
  const found = schemes.find(
    ({ block }) =>
      block !== undefined &&
      scale.shape.length === 2 &&
      Math.ceil(outputs / block[0]) === rows &&
      Math.ceil(inputs / block[1]) === columns,
  );
  if (found?.block !== undefined) return { rows: found.block[0], columns: found.block[1], width: columns };
  const blocks = declared.length === 0 ? 'no blocks' : `blocks of ${declared.join(' x ')}`;
  const message = `has shape [${scale.shape}] for ${outputs} outputs and ${inputs} inputs; config.json declares ${blocks}`;
  throw scale.fault('tensor_mismatch', message);
}

/** Scales in floats, or powers of two in F8_E8M0. Throws: `tensor_mismatch`. */
async function readFloat8Scales(scale: ModuleTensor): Promise<Float32Array> {
  const count = elementCount(scale);
  if (scale.type !== 'F8_E8M0') return readScales(scale, 0, count);
  const exponents = new Uint8Array(count);
  await scale.readBytes(0, exponents);
  const at = exponents.indexOf(255);
  if (at >= 0) throw scale.fault('tensor_mismatch', `element ${at} is NaN; scales must be finite`);
  return Float32Array.from(exponents, exponent => 2 ** (exponent - 127));
}

let cachedValues: Float32Array | undefined;

/** The value of each byte: a sign, 4 bits of exponent with bias 7, 3 bits of fraction; no infinities. */
function float8Values(): Float32Array {
  cachedValues ??= Float32Array.from({ length: 256 }, (_, byte) => {
    const sign = byte & 0x80 ? -1 : 1;
    const exponent = (byte >> 3) & 15;
    const fraction = byte & 7;
    if (exponent === 15 && fraction === 7) return Number.NaN;
    if (exponent === 0) return sign * fraction * 2 ** -9;
    return sign * (1 + fraction / 8) * 2 ** (exponent - 7);
  });
  return cachedValues;
}
