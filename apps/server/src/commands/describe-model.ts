// What the operator is told of a model that is ready.

import type { EngineInfo } from '@ortler/engine';

/** One line, and a second one when the model runs slower than it could. */
export function describeModel(modelId: string, info: EngineInfo): string {
  const { modelType, parameterCount, precision, kvType, device, backend, contextLength } = info;
  const { backendNote, samplingNote, deviceNote } = info;
  const size = `${(parameterCount / 1e6).toFixed(1)} M parameters`;
  const cache = kvType === 'int8' ? '8-bit cache, ' : '';
  const line = `  model    ${modelId}: ${modelType}, ${size}, ${precision}, ${cache}${device} (${backend}), context ${contextLength}\n`;
  const notes = [backendNote, samplingNote, deviceNote].filter(note => note !== undefined);
  return [line, ...notes.map(note => `           slower than it could be: ${note}\n`)].join('');
}
