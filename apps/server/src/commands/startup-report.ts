// Lines of `ortler serve` about the device and each loaded model. Caller: `serve.ts`.

import type { EngineInfo } from '@ortler/engine';
import type { DeviceChoice } from '@ortler/onnxruntime';

/** A line for a GPU, or for one that cannot be used; empty on machines with a CPU only. */
export function describeDevice({ device, facts, note, isFallback }: DeviceChoice): string {
  if (device === 'cpu') return isFallback ? `  device   CPU: ${note}\n` : '';
  const details: string[] = [];
  if (facts?.isSoftware) details.push('software driver: for tests only');
  if (facts?.memoryBytes !== undefined) details.push(`${(facts.memoryBytes / 2 ** 30).toFixed(1)} GiB`);
  const shown = details.length === 0 ? '' : ` (${details.join(', ')})`;
  return `  device   ${device}: ${facts?.name ?? 'a GPU'}${shown}\n`;
}

/** One line for a loaded model, and one more for each reason why it runs slower than it could. */
export function describeModel(modelId: string, info: EngineInfo): string {
  const { modelType, parameterCount, precision, kvType, device, backend, contextLength } = info;
  const { backendNote, samplingNote, deviceNote } = info;
  const size = `${(parameterCount / 1e6).toFixed(1)} M parameters`;
  const cache = kvType === 'int8' ? 'int8 KV cache, ' : '';
  const line = `  model    ${modelId}: ${modelType}, ${size}, ${precision}, ${cache}${device} (${backend}), context ${contextLength}\n`;
  const notes = [backendNote, samplingNote, deviceNote].filter(note => note !== undefined);
  return [line, ...notes.map(note => `           slower than it could be: ${note}\n`)].join('');
}
