// The files of a graph and its weights.

import { join } from 'node:path';
import { weightsFileName } from '@ortler/engine/graph-contract';
import { encodeModel, type GraphRecorder, type WriteWeightsOptions, writeWeights } from '@ortler/onnx';
import { writeDurably } from './build-folder.ts';
import { BUILDER_VERSION } from './content-hash.ts';

export const GRAPH_FILE = 'model.onnx';
export const CUDA_GRAPH_FILE = 'model.cuda.onnx';
export const WEIGHTS_FILE = weightsFileName(GRAPH_FILE);

/** Mutates: the disk, in `folder`. Throws: as `writeWeights`. */
export async function writeGraph(
  folder: string,
  graph: GraphRecorder,
  {
    cudaGraph,
    ...options
  }: Pick<WriteWeightsOptions, 'onBytes' | 'signal'> & {
    /** Has no weights but those of `graph`. */
    readonly cudaGraph: GraphRecorder | undefined;
  },
): Promise<void> {
  const placements = await writeDurably(join(folder, WEIGHTS_FILE), file =>
    writeWeights(graph, file, { fileName: WEIGHTS_FILE, ...options }),
  );
  const write = (name: string, recorded: GraphRecorder) =>
    writeDurably(join(folder, name), file =>
      file.writeFile(encodeModel(recorded, placements, String(BUILDER_VERSION))),
    );
  await write(GRAPH_FILE, graph);
  if (cudaGraph !== undefined) await write(CUDA_GRAPH_FILE, cudaGraph);
}
