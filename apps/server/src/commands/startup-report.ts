// Lines of `ortler serve` about the device, the precision of a build and each model.

import type { UpstreamModel } from '@ortler/api';
import type { EngineInfo } from '@ortler/engine';
import type { GraphVariant } from '@ortler/engine/graph-contract';
import type { AutoPrecision } from '@ortler/model-builder';
import type { DeviceChoice } from '@ortler/onnxruntime';
import { speedNotes } from '../models/speed-notes.ts';

/** A line for a GPU, or for one that cannot be used; empty on machines with a CPU only. */
export function describeDevice({ device, facts, note, isFallback }: DeviceChoice): string {
  if (device === 'cpu') return isFallback ? `  device   CPU: ${note}\n` : '';
  const details: string[] = [];
  if (facts?.isSoftware) details.push('software driver: for tests only');
  if (facts?.memoryBytes !== undefined) details.push(`${(facts.memoryBytes / 2 ** 30).toFixed(1)} GiB`);
  const shown = details.length === 0 ? '' : ` (${details.join(', ')})`;
  return `  device   ${device}: ${facts?.name ?? 'a GPU'}${shown}\n`;
}

/** For example "q8, because the checkpoint has 513 MiB: ...". */
export function describePrecision({ precision, reason }: AutoPrecision): string {
  return `${precision}, because ${reason}`;
}

/** The variant of a build, where it is not the first of the device. */
export function describeVariant(variant: GraphVariant, reason: string): string {
  const other = variant === 'device-slots' ? 'GroupQueryAttention, one sequence a call' : 'the CPU';
  return `${other}, because ${reason}`;
}

/** One line for a loaded model. */
export function describeModel(modelId: string, info: EngineInfo): string {
  const { modelType, parameterCount, precision, kvType, device, backend, kernels, contextLength } = info;
  const size = `${(parameterCount / 1e6).toFixed(1)} M parameters`;
  const cache = kvType === 'int8' ? 'int8 KV cache, ' : '';
  return `  model    ${modelId}: ${modelType}, ${size}, ${precision}, ${cache}${device} (${[backend, ...(kernels === undefined ? [] : [kernels])].join(', ')}), context ${contextLength}\n`;
}

/** Lines under the one of a model: why it runs slower than it could, and why chats with it fail. Empty: nothing to say. */
export function describeNotes(info: EngineInfo): string {
  const slower = speedNotes(info).map(note => `slower than it could be: ${note}`);
  return [...slower, ...describeTemplates(info)].map(note => `           ${note}\n`).join('');
}

function describeTemplates({ templateNote, chatTemplate }: EngineInfo): readonly string[] {
  if (templateNote !== undefined)
    return [`${templateNote} Chats with it fail; --chat-template FILE gives the model one that works.`];
  if (chatTemplate !== null) return [];
  return [
    'no chat template: chat requests need one of their own (chat_template); --chat-template FILE gives the model one',
  ];
}

/** One line for a model that other servers answer for. */
export function describeUpstream(
  modelId: string,
  { name, servers, state, contextLength }: UpstreamModel,
): string {
  const count = servers.length === 1 ? 'another server' : `${servers.length} other servers`;
  const context = contextLength === null ? '' : `, context ${contextLength}`;
  const fault = state === 'ready' ? '' : '; none of them answers now';
  return `  model    ${modelId}: ${name} of ${count}${context}${fault}\n`;
}
