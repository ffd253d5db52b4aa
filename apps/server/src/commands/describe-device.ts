// What the operator is told of where models run.

import type { DeviceChoice } from '@ortler/onnxruntime';

/** A line for a GPU, or for one that does not work; nothing where the processor is all there is. */
export function describeDevice({ device, facts, note, isFallback }: DeviceChoice): string {
  if (device === 'cpu') return isFallback ? `  device   processor: ${note}\n` : '';
  const details = [
    ...(facts?.isSoftware ? ['in software: for tests only'] : []),
    ...(facts?.memoryBytes === undefined ? [] : [`${(facts.memoryBytes / 2 ** 30).toFixed(1)} GiB`]),
  ];
  const shown = details.length === 0 ? '' : ` (${details.join(', ')})`;
  return `  device   ${device}: ${facts?.name ?? 'a GPU'}${shown}\n`;
}
