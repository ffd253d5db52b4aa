// Says how a folder is quantised and what a build keeps of it, for people.

import { type QuantisationConfig, readQuantisationConfig } from './quantisation-config.ts';
import type { IntegerScheme } from './schemes.ts';

/** Continues "file, because". Undefined for folders in floats, and those whose quantisation is not read. */
export async function explainQuantisation(folder: string): Promise<string | undefined> {
  const config = await readQuantisationConfig(folder).catch(() => undefined);
  if (config === undefined) return undefined;
  return `the checkpoint is quantised (${describe(config)}): values that a format of the build holds are kept exactly, all others are rounded to 8 bits in blocks of 32, which loses least`;
}

function describe(config: QuantisationConfig): string {
  switch (config.method) {
    case 'gptq':
      return `GPTQ in ${bitsOf(config.schemes)}`;
    case 'awq':
      return 'AWQ in 4 bits';
    case 'compressed-tensors': {
      const { integers, floats } = config;
      const kinds = [
        ...(integers.length === 0 ? [] : [bitsOf(integers)]),
        ...(floats.length === 0 ? [] : ['FP8']),
      ];
      return `compressed-tensors in ${kinds.join(' and ')}`;
    }
    case 'fp8':
      return 'FP8';
    case 'mxfp4':
      return 'MXFP4';
  }
}

function bitsOf(schemes: readonly IntegerScheme[]): string {
  const bits = [...new Set(schemes.map(scheme => scheme.bits))].toSorted((a, b) => a - b);
  return `${bits.join(' and ')} bits`;
}
