// The same checkpoint as a folder in the layout that transformers.js and Optimum use: one graph whose cache grows by
// concatenation. Tests of that layout and benchmarks against its readers call it; the product never does.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Precision, SLOTS_INPUT, SLOTS_OUTPUT } from '@ortler/engine/graph-contract';
import { recordDecoderGraph } from '../architectures/decoder-graph.ts';
import { DYNAMIC_DIMS, VARIANTS } from '../blocks/variant.ts';
import { writeDurably } from '../build-folder.ts';
import { listCompanions } from '../build-model.ts';
import { Checkpoint } from '../hugging-face/checkpoint.ts';
import { readDecoderConfig } from '../hugging-face/config.ts';
import { writeWeights } from '../onnx/external-data.ts';
import { type ElementType, GraphRecorder, int, type OpOptions } from '../onnx/graph.ts';
import { encodeModel } from '../onnx/model-proto.ts';

const ATTENTION_MASK = 'attention_mask';
const ONNX_INT32 = 6;

/** The readers find dimensions by these names. */
const INPUT_DIMS = new Map<string, string>([
  [DYNAMIC_DIMS.batch, 'batch_size'],
  [DYNAMIC_DIMS.length, 'sequence_length'],
  [DYNAMIC_DIMS.capacity, 'past_sequence_length'],
]);
const PRESENT_CAPACITY = 'total_sequence_length';

export interface OptimumModelOptions {
  /** A Hugging Face folder. */
  readonly sourceDir: string;
  /** Folder to fill; it is made if it is absent. */
  readonly outputDir: string;
  readonly precision: Precision;
}

/**
 * Writes `onnx/model.onnx` (f32) or `onnx/model_q4.onnx`, `onnx/model_q8.onnx`, and the files beside the checkpoint's
 * weights. The graph takes one sequence at a time and gives logits of its last position only, `[1, 1, vocabSize]`.
 */
export async function writeOptimumModel(options: OptimumModelOptions): Promise<void> {
  const { sourceDir, outputDir, precision } = options;
  const config = await readDecoderConfig(sourceDir);
  const checkpoint = await Checkpoint.open(sourceDir);
  try {
    const graph = new OptimumRecorder();
    const variant = VARIANTS.slots;
    recordDecoderGraph({ graph, config, checkpoint, precision, variant, products: 'blocks' });
    const folder = join(outputDir, 'onnx');
    await mkdir(folder, { recursive: true });
    const graphFile = precision === 'f32' ? 'model.onnx' : `model_${precision}.onnx`;
    const fileName = `${graphFile}_data`;
    const placements = await writeDurably(join(folder, fileName), file =>
      writeWeights(graph, file, { fileName }),
    );
    await writeFile(join(folder, graphFile), encodeModel(graph, placements, 'testing'));
    for (const name of await listCompanions(sourceDir)) {
      await writeFile(join(outputDir, name), await readFile(join(sourceDir, name)));
    }
  } finally {
    await checkpoint.close();
  }
}

/**
 * Records a `slots` graph under the names of the other layout: what the engine passes as inputs is computed from
 * the attention mask and the token ids instead.
 */
class OptimumRecorder extends GraphRecorder {
  override input(name: string, type: ElementType, dims: readonly (number | string)[]): string {
    switch (name) {
      case SLOTS_INPUT.lastPositions:
        return this.#recordLastPositions(name);
      case SLOTS_INPUT.totalLength:
        return this.#recordLength(name, ATTENTION_MASK, { minus: 0, cast: true });
      case SLOTS_INPUT.logitRows:
        return this.#recordLength(name, SLOTS_INPUT.inputIds, { minus: 1, cast: false });
      default:
        return super.input(name, type, dims.map(renamed));
    }
  }

  override op(path: string, opType: string, inputs: readonly string[], options: OpOptions = {}): string {
    if (options.outputs?.[0] !== SLOTS_OUTPUT.logits) return super.op(path, opType, inputs, options);
    const rows = super.op(path, opType, inputs, { ...options, outputs: ['logits/rows'] });
    const axes = this.constant('logits/axes', 'int64', [0]);
    return super.op('logits/Unsqueeze', 'Unsqueeze', [rows, axes], { outputs: [SLOTS_OUTPUT.logits] });
  }

  override output(name: string, type: ElementType, dims: readonly (number | string)[]): void {
    const isLogits = name === SLOTS_OUTPUT.logits;
    const shape = isLogits ? ['batch_size', 1, dims.at(-1)!] : dims.map(renamedPresent);
    super.output(name, type, shape);
  }

  /** `sum of the mask - 1`, one for each sequence. */
  #recordLastPositions(name: string): string {
    super.input(ATTENTION_MASK, 'int64', ['batch_size', PRESENT_CAPACITY]);
    const axes = this.constant(`${name}/axes`, 'int64', [1]);
    const one = this.constant(`${name}/one`, 'int64', [1]);
    const sum = super.op(`${name}/ReduceSum`, 'ReduceSum', [ATTENTION_MASK, axes], {
      attributes: { keepdims: int(0) },
    });
    const last = super.op(`${name}/Sub`, 'Sub', [sum, one]);
    return super.op(`${name}/Cast`, 'Cast', [last], {
      attributes: { to: int(ONNX_INT32) },
      outputs: [name],
    });
  }

  /** The second dimension of `of`, as a vector of one element. */
  #recordLength(name: string, of: string, { minus, cast }: { minus: number; cast: boolean }): string {
    const index = this.constant(`${name}/index`, 'int64', [1]);
    const shape = super.op(`${name}/Shape`, 'Shape', [of]);
    const length = super.op(`${name}/Gather`, 'Gather', [shape, index]);
    if (cast) {
      return super.op(`${name}/Cast`, 'Cast', [length], {
        attributes: { to: int(ONNX_INT32) },
        outputs: [name],
      });
    }
    const less = this.constant(`${name}/less`, 'int64', [minus]);
    return super.op(`${name}/Sub`, 'Sub', [length, less], { outputs: [name] });
  }
}

function renamed(dim: number | string): number | string {
  return typeof dim === 'number' ? dim : (INPUT_DIMS.get(dim) ?? dim);
}

function renamedPresent(dim: number | string): number | string {
  return dim === DYNAMIC_DIMS.capacity ? PRESENT_CAPACITY : renamed(dim);
}
