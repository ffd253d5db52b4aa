// An inspection as text for a terminal.

import { totalmem } from 'node:os';
import { isGpuVariant } from '@ortler/engine/graph-contract';
import { formatBytes } from '@ortler/hub';
import { describeLongRope, type MemoryEstimate, type ModelDescription } from '@ortler/model-builder';
import type { DeviceChoice } from '@ortler/onnxruntime';
import { alignColumns } from '../align-columns.ts';
import { describePrecision, describeVariant } from '../startup-report.ts';
import type { Inspection } from './inspection.ts';

const LAYOUTS: Readonly<Record<ModelDescription['layout'], string>> = {
  safetensors: 'safetensors, in the layout of Hugging Face',
  gguf: 'GGUF',
  optimum: 'ONNX, in the layout of Optimum and transformers.js',
  genai: 'ONNX, in the layout of onnxruntime-genai',
  built: 'built by Ortler',
};

export function showInspection(inspection: Inspection): string {
  const { source, model, download } = inspection;
  const facts: (readonly [string, string])[] = [
    ['format', LAYOUTS[model.layout]],
    ['architecture', describeArchitecture(model)],
    ...optional('parameters', describeParameters(model)),
    ...optional('context', model.contextLength && `${model.contextLength.toLocaleString('en')} tokens`),
    ...optional(
      'rotation',
      model.longRope && describeLongRope(model.longRope, { isBuilt: model.layout === 'built' }),
    ),
    ['weights', formatBytes(model.weightBytes)],
    ...optional('download', download && describeDownload(download)),
    ...optional('runs here', model.fault && `no: ${model.fault}`),
    ...(model.fault === undefined ? [['device', describeDevice(inspection)] as const] : []),
    ...optional('attention', describeAttention(inspection)),
    ...optional('norms', describeNorms(inspection)),
    ...optional('precision', describeChoice(inspection)),
  ];
  const width = Math.max(...facts.map(([name]) => name.length));
  return [
    `${source}${download === undefined ? '' : ` at ${download.commit.slice(0, 12)}`}\n`,
    ...facts.map(([name, text]) => `  ${name.padEnd(width)}  ${text}\n`),
    showFiles(inspection),
    showFormats(model),
    showMemory(inspection),
  ].join('');
}

function describeArchitecture({ architecture = 'not named', shape }: ModelDescription): string {
  if (shape === undefined) return architecture;
  const { layerCount, hiddenSize, headCount, kvHeadCount, headSize, vocabSize } = shape;
  const size = (count: number) => count.toLocaleString('en');
  return `${architecture}: ${layerCount} layers of ${size(hiddenSize)}, ${headCount} heads of ${headSize} (${kvHeadCount} of keys and values), ${size(vocabSize)} tokens`;
}

function describeParameters({ parameterCount, experts }: ModelDescription): string | undefined {
  const count = parameterCount?.toLocaleString('en');
  if (experts === undefined) return count;
  return `${count}, of which a token uses ${experts.activeParameterCount.toLocaleString('en')} (${experts.chosen} of ${experts.count} experts)`;
}

function describeDownload({ files, totalBytes, missingBytes }: NonNullable<Inspection['download']>): string {
  if (files.length === 0) return 'nothing: offline, from the cache';
  if (missingBytes === 0) return `nothing: ${formatBytes(totalBytes)} are in the cache`;
  const cached = missingBytes < totalBytes ? ` of ${formatBytes(totalBytes)}` : '';
  return `${formatBytes(missingBytes)}${cached} in ${files.filter(file => file.missingBytes > 0).length} files`;
}

function describeDevice({ device, variant, model, memory }: Inspection): string {
  const { built } = model;
  const isGpuBuild = built !== undefined && isGpuVariant(built.variant) !== (device.device !== 'cpu');
  const mismatch =
    model.layout === 'built' && isGpuBuild
      ? `; the folder is built for ${isGpuVariant(built.variant) ? 'a GPU' : 'the CPU'}`
      : '';
  const operators = variant === 'slots' && device.device === 'cpu' ? ', which has no kernels of ours' : '';
  const reason = device.note === undefined ? '' : `. ${device.note.replace(/\.$/, '')}`;
  return `${nameOf(device)}${operators}${mismatch}${reason}${describeRoom(device, memory)}`;
}

/** Only of a model that the best operators of the device cannot compute. */
function describeAttention({ variant, variantReason }: Inspection): string | undefined {
  return variantReason === undefined ? undefined : describeVariant(variant, variantReason);
}

/** Only of graphs with PagedAttention. */
function describeNorms({ variant, model }: Inspection): string | undefined {
  const { cudaNorms, built, fault } = model;
  if (cudaNorms === undefined || fault !== undefined || (built?.variant ?? variant) !== 'paged')
    return undefined;
  return cudaNorms === 'inside'
    ? 'of queries and keys: on CUDA inside the attention, elsewhere operators of their own'
    : 'of queries and keys: operators of their own, because they are not over single heads';
}

function nameOf({ device, facts }: DeviceChoice): string {
  if (device === 'cpu') return `CPU with ${formatBytes(totalmem())} of memory`;
  const memory = facts?.memoryBytes === undefined ? '' : ` with ${formatBytes(facts.memoryBytes)} of memory`;
  return `${device}: ${facts?.name ?? 'a GPU'}${memory}`;
}

/** Precisions that do not fit into the memory of the device. */
function describeRoom({ device, facts }: DeviceChoice, memory: readonly MemoryEstimate[]): string {
  const room = device === 'cpu' ? totalmem() : facts?.memoryBytes;
  if (room === undefined) return '';
  const tooLarge = memory.filter(({ weightBytes, cacheBytes }) => weightBytes + cacheBytes > room);
  return tooLarge.length === 0
    ? ''
    : `; too small for ${tooLarge.map(({ precision }) => precision).join(', ')}`;
}

function describeChoice({ precision, model }: Inspection): string | undefined {
  if (model.layout === 'built') return `${model.built!.precision}, as it is built`;
  if (precision === undefined) return undefined;
  const { reason } = precision;
  return reason === undefined
    ? `${precision.precision}, as --precision says`
    : describePrecision({ ...precision, reason });
}

function showFiles({ download }: Inspection): string {
  if (download === undefined || download.files.length === 0) return '';
  const rows = download.files.map(({ path, size, missingBytes }) => [
    path,
    formatBytes(size),
    missingBytes === 0 ? 'cached' : '',
  ]);
  return section('files', rows, 1);
}

function showFormats({ formats, graphs }: ModelDescription): string {
  if (graphs.length > 0) {
    const rows = graphs.map(({ precision, file, bytes }) => [precision, file, formatBytes(bytes)]);
    return section('graphs for this device', rows, 2);
  }
  if (formats.length === 0) return '';
  const rows = formats.map(({ role, type, tensorCount, elementCount, bytes }) => [
    role,
    type,
    `${tensorCount} ${tensorCount === 1 ? 'tensor' : 'tensors'}`,
    elementCount === undefined ? '' : elementCount.toLocaleString('en'),
    bytes === undefined ? '' : formatBytes(bytes),
  ]);
  return section('tensors', rows, 2);
}

function showMemory({ memory, contextLength, model }: Inspection): string {
  if (memory.length === 0) return '';
  const rows = memory.map(({ precision, kvType, weightBytes, activeWeightBytes, cacheBytes }) => [
    precision,
    formatBytes(weightBytes + cacheBytes),
    `weights ${formatBytes(weightBytes)}${activeWeightBytes === undefined ? '' : `, ${formatBytes(activeWeightBytes)} of them for a token`}`,
    `KV cache ${formatBytes(cacheBytes)} in ${kvType}`,
  ]);
  const about = model.built === undefined ? ', estimated from the headers' : '';
  return section(`memory with one sequence of ${contextLength.toLocaleString('en')} tokens${about}`, rows, 1);
}

function optional(name: string, text: string | number | undefined): readonly (readonly [string, string])[] {
  return text === undefined || text === '' ? [] : [[name, String(text)]];
}

function section(title: string, rows: readonly (readonly string[])[], right: number): string {
  return `\n${title}\n${alignColumns(rows, right)
    .map(line => `  ${line}\n`)
    .join('')}`;
}
