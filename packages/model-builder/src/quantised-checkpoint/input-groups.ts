// Which inputs of a layer share a scale, from the declarations of config.json and the order of inputs in the file.

import type { InputGroups } from './integer-matrix.ts';
import type { IntegerScheme } from './schemes.ts';
import { checkShape, type ModuleTensor, readWords } from './stored-module.ts';

export interface DeclaredGroups {
  readonly inputs: number;
  readonly groupCount: number;
  /** Undefined where the packing has one width for all: a level in each byte. */
  readonly bits: number | undefined;
  readonly schemes: readonly IntegerScheme[];
  /** Named when the shapes are none that config.json declares. */
  readonly tensor: ModuleTensor;
  /** The group of each input, where the file has it. */
  readonly order: ModuleTensor | undefined;
}

/** Throws: `tensor_mismatch` where the tensors contradict each other or config.json. */
export async function readGroups(declared: DeclaredGroups): Promise<InputGroups> {
  const { inputs, groupCount, order } = declared;
  const size = groupSizeOf(declared);
  if (order === undefined) return { kind: 'runs', count: groupCount, size };
  checkShape(order, [inputs], 'the group of each input');
  const of = await readWords(order, 0, inputs);
  let isInRuns = true;
  for (let input = 0; input < inputs; input++) {
    if (of[input]! >= groupCount) {
      const message = `says that input ${input} is in group ${of[input]! | 0}; the layer has groups 0 to ${groupCount - 1}`;
      throw order.fault('tensor_mismatch', message);
    }
    if (of[input] !== Math.floor(input / size)) isInRuns = false;
  }
  return isInRuns ? { kind: 'runs', count: groupCount, size } : { kind: 'ordered', count: groupCount, of };
}

function groupSizeOf({ inputs, groupCount, bits, schemes, tensor }: DeclaredGroups): number {
  const size = schemes
    .filter(scheme => bits === undefined || scheme.bits === bits)
    .map(({ groupSize }) => groupSize ?? inputs)
    .find(candidate => Math.ceil(inputs / candidate) === groupCount);
  if (size !== undefined) return size;
  const declared = schemes.map(scheme => `${scheme.bits} bits in groups of ${scheme.groupSize ?? 'all'}`);
  const width = bits === undefined ? '' : `${bits} bits and `;
  const message = `has ${width}${groupCount} groups of ${inputs} inputs; config.json says ${declared.join(', or ') || 'nothing of such layers'}`;
  throw tensor.fault('tensor_mismatch', message);
}

/** The group of each input. Shape: `[inputs]`. */
export function groupNumbers(groups: InputGroups, inputs: number): Uint32Array {
  if (groups.kind === 'ordered') return groups.of;
  return Uint32Array.from({ length: inputs }, (_, input) => Math.floor(input / groups.size));
}

/** The levels that codes of this many bits and these zero points allow. */
export function levelRange(bits: number, zeros: Uint8Array): readonly [lowest: number, highest: number] {
  let [min, max] = [zeros[0]!, zeros[0]!];
  for (const zero of zeros) {
    if (zero < min) min = zero;
    if (zero > max) max = zero;
  }
  return [-max, 2 ** bits - 1 - min];
}
