// Writes a checkpoint as an ONNX export in the layout of transformers.js and Optimum: one graph whose cache grows by
// concatenation. For tests of that layout and benchmarks against its readers only.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MASK_INPUT, type Precision, SLOTS_INPUT, SLOTS_OUTPUT } from '@ortler/engine/graph-contract';
import {
  type ElementType,
  encodeModel,
  GraphRecorder,
  int,
  type OpOptions,
  writeWeights,
} from '@ortler/onnx';
import { recordDecoderGraph } from '../architectures/decoder-graph.ts';
import { readDecoderConfig } from '../architectures/read-decoder-config.ts';
import { DYNAMIC_DIMS, VARIANTS, type Variant } from '../blocks/variant.ts';
import { writeDurably } from '../build-folder.ts';
import { listCompanionFiles } from '../copy-companions.ts';
import { Checkpoint } from '../hugging-face/checkpoint.ts';
import { DecoderWeights } from '../hugging-face/decoder-weights.ts';

const { attentionMask: ATTENTION_MASK, positionIds: POSITION_IDS } = MASK_INPUT;
/** Index among the inputs of GroupQueryAttention. */
const POSITION_IDS_INDEX = 9;
const ONNX_INT32 = 6;
const ONNX_FLOAT16 = 10;

/** Names of dimensions that readers of the layout look up. */
const INPUT_DIMS = new Map<string, string>([
  [DYNAMIC_DIMS.batch, 'batch_size'],
  [DYNAMIC_DIMS.length, 'sequence_length'],
  [DYNAMIC_DIMS.capacity, 'past_sequence_length'],
]);
const PRESENT_CAPACITY = 'total_sequence_length';

/** The slots variant in float16: without sinks, which would have to be float16 too, and with a place for position ids. */
const HALF_SLOTS: Variant = { ...VARIANTS.slots, activation: 'float16', lateAttentionInputs: [''] };

export interface OptimumModelOptions {
  /** A Hugging Face folder. */
  readonly sourceDir: string;
  /** Folder to fill; created if absent. */
  readonly outputDir: string;
  readonly precision: Precision;
  /** Positions that get logits: `last` is `[batch, 1, vocabSize]`, `all` is `[batch, length, vocabSize]`. Default: `last`. */
  readonly logits?: 'last' | 'all';
  /**
   * Uses float16 for activations, norms and caches, as graphs for a GPU do, and with `logits too` for logits. Default: float32.
   */
  readonly halves?: 'activations' | 'logits too';
  /** Gives the graph an input `position_ids`. Default: false. */
  readonly positionIds?: boolean;
}

/**
 * Writes `onnx/model.onnx` (f32) or `onnx/model_q4.onnx`, `onnx/model_q8.onnx`, `onnx/model_q4f16.onnx`, and the files beside
 * the checkpoint's weights. With logits of the last position only, the graph takes one sequence at a time.
 */
export async function writeOptimumModel(options: OptimumModelOptions): Promise<void> {
  const { sourceDir, outputDir, precision } = options;
  const config = await readDecoderConfig(sourceDir);
  const checkpoint = await Checkpoint.open(sourceDir);
  try {
    const graph = new OptimumRecorder(options, config.vocabSize);
    const variant = options.halves === undefined ? VARIANTS.slots : HALF_SLOTS;
    recordDecoderGraph({
      graph,
      config,
      weights: new DecoderWeights(checkpoint, config),
      activation: variant.activation,
      precision,
      kvType: variant.activation,
      skewed: new Set(),
      variant,
    });
    const folder = join(outputDir, 'onnx');
    await mkdir(folder, { recursive: true });
    const halves = options.halves === undefined ? '' : 'f16';
    const graphFile = precision === 'f32' ? 'model.onnx' : `model_${precision}${halves}.onnx`;
    const fileName = `${graphFile}_data`;
    const placements = await writeDurably(join(folder, fileName), file =>
      writeWeights(graph, file, { fileName }),
    );
    await writeFile(join(folder, graphFile), encodeModel(graph, placements, 'testing'));
    for (const name of await listCompanionFiles(sourceDir)) {
      await writeFile(join(outputDir, name), await readFile(join(sourceDir, name)));
    }
  } finally {
    await checkpoint.close();
  }
}

/**
 * Records a `slots` graph under the names of the other layout. The inputs that the engine would pass are computed from the
 * attention mask and the token ids.
 */
class OptimumRecorder extends GraphRecorder {
  readonly #hasAllLogits: boolean;
  readonly #hasPositionIds: boolean;
  readonly #hasHalfLogits: boolean;
  readonly #vocabSize: number;

  constructor(
    { logits, positionIds = false, halves }: Pick<OptimumModelOptions, 'logits' | 'positionIds' | 'halves'>,
    vocabSize: number,
  ) {
    super();
    this.#hasAllLogits = logits === 'all';
    this.#hasHalfLogits = halves === 'logits too';
    this.#hasPositionIds = positionIds;
    this.#vocabSize = vocabSize;
  }

  override input(name: string, type: ElementType, dims: readonly (number | string)[]): string {
    switch (name) {
      case SLOTS_INPUT.lastPositions:
        return this.#recordLastPositions(name);
      case SLOTS_INPUT.totalLength:
        return this.#recordLength(name, ATTENTION_MASK, { minus: 0, cast: true });
      case SLOTS_INPUT.logitRows:
        if (this.#hasPositionIds) super.input(POSITION_IDS, 'int64', ['batch_size', 'sequence_length']);
        if (this.#hasAllLogits) return this.#recordAllRows(name);
        return this.#recordLength(name, SLOTS_INPUT.inputIds, { minus: 1, cast: false });
      default:
        return super.input(name, type, dims.map(renamed));
    }
  }

  override op(path: string, opType: string, inputs: readonly string[], options: OpOptions = {}): string {
    if (opType === 'GroupQueryAttention' && this.#hasPositionIds)
      return super.op(path, opType, inputs.with(POSITION_IDS_INDEX, POSITION_IDS), options);
    if (options.outputs?.[0] !== SLOTS_OUTPUT.logits) return super.op(path, opType, inputs, options);
    let rows = super.op(path, opType, inputs, { ...options, outputs: ['logits/rows'] });
    if (this.#hasHalfLogits)
      rows = super.op('logits/Cast', 'Cast', [rows], { attributes: { to: int(ONNX_FLOAT16) } });
    if (this.#hasAllLogits) {
      const shape = super.op('logits/Shape', 'Shape', [SLOTS_INPUT.inputIds]);
      const vocabulary = this.constant('logits/vocabulary', 'int64', [this.#vocabSize]);
      const attributes = { axis: int(0) };
      const apart = super.op('logits/Concat', 'Concat', [shape, vocabulary], { attributes });
      return super.op('logits/Reshape', 'Reshape', [rows, apart], { outputs: [SLOTS_OUTPUT.logits] });
    }
    const axes = this.constant('logits/axes', 'int64', [0]);
    return super.op('logits/Unsqueeze', 'Unsqueeze', [rows, axes], { outputs: [SLOTS_OUTPUT.logits] });
  }

  override output(name: string, type: ElementType, dims: readonly (number | string)[]): void {
    const isLogits = name === SLOTS_OUTPUT.logits;
    const length = this.#hasAllLogits ? 'sequence_length' : 1;
    const shape = isLogits ? ['batch_size', length, dims.at(-1)!] : dims.map(renamedPresent);
    super.output(name, isLogits && this.#hasHalfLogits ? 'float16' : type, shape);
  }

  /** The sum of the mask minus 1, per sequence. */
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

  /** Indexes of all positions, as many as there are token ids. */
  #recordAllRows(name: string): string {
    const zero = this.constant(`${name}/zero`, 'int64', [0]);
    const one = this.constant(`${name}/one`, 'int64', [1]);
    const size = super.op(`${name}/Size`, 'Size', [SLOTS_INPUT.inputIds]);
    return super.op(`${name}/Range`, 'Range', [zero, size, one], { outputs: [name] });
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
