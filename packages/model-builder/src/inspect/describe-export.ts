// Describes an ONNX export of another program: its graphs, and what the one for a device says of the model.

import { join } from 'node:path';
import type { GraphVariant } from '@ortler/engine/graph-contract';
import { ModelBuildError } from '../errors.ts';
import { checkDataFiles } from '../exported/check-data-files.ts';
import { checkExport } from '../exported/check-export.ts';
import { LAYOUT_NAMES } from '../exported/export-settings.ts';
import type { ExportedFiles } from '../exported/find-exports.ts';
import { readExportSettings } from '../exported/read-export-settings.ts';
import { readExportedGraph } from '../exported/read-exported-graph.ts';
import { readModelType } from './describe-checkpoint.ts';
import type { ModelDescription } from './model-description.ts';

export interface DescribeExportOptions {
  readonly exports: ExportedFiles;
  readonly variant: GraphVariant;
  /** Whether the content of a graph is there; `false` of the headers of a graph that holds its weights. */
  readonly hasGraph: (file: string) => boolean;
}

/** Throws: file system errors. */
export async function describeExport({
  exports,
  variant,
  hasGraph,
}: DescribeExportOptions): Promise<ModelDescription> {
  const { layout, folder, graphFolder, graphs } = exports;
  const described = [...graphs].map(([precision, { name, bytes }]) => ({
    precision,
    file: join(graphFolder, name),
    bytes,
  }));
  const base = {
    layout,
    formats: [],
    tensors: [],
    cudaNorms: undefined,
    graphs: described,
    weightBytes: described.reduce((sum, { bytes }) => sum + bytes, 0),
  };
  const unread = {
    ...base,
    architecture: await readModelType(join(folder, 'config.json')),
    shape: undefined,
    contextLength: undefined,
    longRope: undefined,
    parameterCount: undefined,
    built: undefined,
  };
  const first = described[0];
  if (first === undefined)
    return { ...unread, fault: `none of its graphs (${exports.names.join(', ')}) runs on this device` };
  const graphFile = join(folder, first.file);
  if (!hasGraph(graphFile)) return { ...unread, fault: undefined };
  try {
    const settings = await readExportSettings(layout, folder);
    const graph = readExportedGraph(graphFile);
    const facts = checkExport({ graphFile, layout: LAYOUT_NAMES[layout], graph, settings, variant });
    await checkDataFiles(graphFile, graph);
    const { layerCount, headCount, kvHeadCount, headSize, hiddenSize, vocabSize } = facts;
    return {
      ...base,
      architecture: facts.modelType,
      shape: { layerCount, headCount, kvHeadCount, headSize, hiddenSize, vocabSize, layerCaches: undefined },
      contextLength: facts.contextLength,
      longRope: undefined,
      parameterCount: facts.parameterCount,
      built: { precision: first.precision, kvType: facts.kvType, variant: 'slots' },
      fault: undefined,
    };
  } catch (error) {
    if (error instanceof ModelBuildError) return { ...unread, fault: error.message };
    throw error;
  }
}
