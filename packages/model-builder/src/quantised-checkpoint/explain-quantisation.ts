// Says how a folder is quantised and what a build keeps of it, for people.

import { type QuantisationConfig, readQuantisationConfig } from './quantisation-config.ts';

/** Continues "file, because". Undefined for folders in floats, and those whose quantisation is not read. */
export async function explainQuantisation(folder: string): Promise<string | undefined> {
  const config = await readQuantisationConfig(folder).catch(() => undefined);
  if (config === undefined) return undefined;
  return `the checkpoint is quantised (${describe(config)}): values that a format of the build holds are kept exactly, all others are rounded to 8 bits in blocks of 32, which loses least`;
}

function describe({ schemes }: QuantisationConfig): string {
  const bits = [...new Set(schemes.map(scheme => scheme.bits))].toSorted((a, b) => a - b);
  return `GPTQ in ${bits.join(' and ')} bits`;
}
