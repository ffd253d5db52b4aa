// Compares the names of bound values with those of the graph: a difference is an error of the caller, or another model.

import { OrtError } from './errors.ts';

/** Throws: `model_invalid` when inputs are missing, or inputs or outputs are unknown to the graph. */
export function checkNames(
  graph: { readonly inputNames: readonly string[]; readonly outputNames: readonly string[] },
  inputs: ReadonlyMap<string, unknown>,
  outputs: ReadonlyMap<string, unknown>,
): void {
  const unknownInput = [...inputs.keys()].find(name => !graph.inputNames.includes(name));
  if (unknownInput !== undefined) throw unknownName('input', unknownInput, graph.inputNames);
  const unknownOutput = [...outputs.keys()].find(name => !graph.outputNames.includes(name));
  if (unknownOutput !== undefined) throw unknownName('output', unknownOutput, graph.outputNames);
  const missing = graph.inputNames.find(name => !inputs.has(name));
  if (missing !== undefined)
    throw new OrtError('model_invalid', `The graph has an input "${missing}" that is not bound.`);
}

function unknownName(kind: 'input' | 'output', name: string, known: readonly string[]): OrtError {
  const list = known.map(entry => `"${entry}"`).join(', ');
  return new OrtError('model_invalid', `The graph has no ${kind} "${name}"; its ${kind}s are ${list}.`);
}
