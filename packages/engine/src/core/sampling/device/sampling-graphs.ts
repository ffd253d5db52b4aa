// The ONNX graphs of GPU sampling. Caller: `device-sampler.ts`. Names of inputs and outputs are the
// contract between the two.

import { GraphWriter, type Value } from '@ortler/onnx';
import { applyEdits, applyMask, bestTokens, inSumBlocks, selectRows, weightParts } from './graph-parts.ts';
import { PART_BITS, type RowShape, SUM_BLOCK_LENGTH } from './row-shape.ts';

/** Features that some row of a step needs. The graph computes them for all rows, which is harmless. */
export interface ReduceFeatures {
  /** A constraint. */
  readonly mask: boolean;
  /** A list of allowed tokens, which does not affect log probabilities. */
  readonly allowed: boolean;
  readonly edits: boolean;
  readonly penalties: boolean;
  /** Sums of weights. */
  readonly weightSums: boolean;
  /** Best tokens and sum of the row before `allowed` and `edits`. */
  readonly logprobs: boolean;
}

/** Whether the row that is drawn from differs from the one that log probabilities are of. */
export function isEdited({ allowed, edits }: ReduceFeatures): boolean {
  return allowed || edits;
}

export interface GraphShape extends RowShape {
  /** Best tokens that come back. */
  readonly candidateCount: number;
  /** How many of these tokens log probabilities may ask for. */
  readonly logprobCount: number;
}

/**
 * Rows to what decides most draws. Inputs: `logits` `[any, vocabSize]`, `rows` int32 `[rowCount]`, `factor` `[rowCount, 1]`
 * and what the features need. Outputs: `best` `[rowCount, 2, candidateCount]` (logits, ids), `weightSums` `[rowCount,
 * partCount, sumBlockCount]`, `ownBest`, `ownSum`, and, for the graphs below, `edited` and, where it is another
 * row, `own` `[rowCount, paddedLength]`.
 */
export function reduceGraph(shape: GraphShape, features: ReduceFeatures): Uint8Array {
  const graph = new GraphWriter('sampling');
  const { candidateCount, logprobCount, partCount, sumBlockCount, paddedLength } = shape;
  const inputLogits = graph.input('logits', 'float32', ['any', shape.vocabSize]);
  const rows = graph.input('rows', 'int32', ['rowCount']);
  const perRow = (name: string, type: 'int32' | 'float32', ...dimensions: (number | string)[]): Value =>
    graph.input(name, type, ['rowCount', ...dimensions]);

  let own = selectRows(graph, inputLogits, rows, shape);
  if (features.mask) own = applyMask(graph, own, perRow('mask', 'int32', paddedLength / 16), shape);
  let edited = own;
  if (features.allowed)
    edited = applyMask(graph, edited, perRow('allowed', 'int32', paddedLength / 16), shape);
  if (features.edits)
    edited = applyEdits(graph, edited, {
      tokenIds: perRow('editIds', 'int32', 'editCount'),
      biases: perRow('biases', 'float32', 'editCount'),
      penalties: features.penalties ? perRow('penalties', 'float32', 'editCount') : '',
      penaltyHalves: features.penalties ? perRow('penaltyHalves', 'float32', 'editCount') : null,
      frequencies: perRow('frequencies', 'float32', 'editCount'),
      presences: perRow('presences', 'float32', 'editCount'),
    });

  writeBest(graph, 'best', edited, candidateCount, shape);
  graph.output('edited', edited, 'float32', ['rowCount', paddedLength]);
  if (features.weightSums) {
    const scale = { largest: largestOf(graph, edited), factor: perRow('factor', 'float32', 1) };
    const sums = weightParts(graph, edited, scale, shape).map(part =>
      graph.reshape(
        graph.op('ReduceSum', [inSumBlocks(graph, part, shape), graph.int64(2)], { keepdims: 0 }),
        ...[-1, 1, sumBlockCount],
      ),
    );
    const weightSums = sums.length === 1 ? sums[0]! : graph.op('Concat', sums, { axis: 1 });
    graph.output('weightSums', weightSums, 'float32', ['rowCount', partCount, sumBlockCount]);
  }
  if (features.logprobs) {
    const shares = graph.op('Exp', [graph.subtract(own, largestOf(graph, own))]);
    const blockSums = graph.op('ReduceSum', [inSumBlocks(graph, shares, shape), graph.int64(2)], {
      keepdims: 0,
    });
    const sum = graph.op('ReduceSum', [blockSums, graph.int64(1)], { keepdims: 1 });
    graph.output('ownSum', sum, 'float32', ['rowCount', 1]);
    if (isEdited(features)) graph.output('own', own, 'float32', ['rowCount', paddedLength]);
    writeBest(graph, 'ownBest', own, logprobCount, shape);
  }
  return graph.encode();
}

/**
 * The token at which the sum of weights within a block passes a target. Inputs: `edited`; for each place sought `block`
 * int32 `[count]`, an index over all blocks of all rows, `largest`, `factor` `[count, 1]` and the target in parts,
 * `target0` and so on, `[count, 1]`. Output: `place` `[count, 1]`, within the block.
 */
export function locateGraph(shape: GraphShape): Uint8Array {
  const graph = new GraphWriter('sampling');
  const edited = graph.input('edited', 'float32', ['rowCount', shape.paddedLength]);
  const block = graph.input('block', 'int32', ['count']);
  const column = (name: string): Value => graph.input(name, 'float32', ['count', 1]);
  const scale = { largest: column('largest'), factor: column('factor') };
  const blocks = graph.reshape(edited, -1, SUM_BLOCK_LENGTH);
  const logits = graph.op('Gather', [blocks, block], { axis: 0 });
  const axis = graph.int32([1], []);
  const sums = weightParts(graph, logits, scale, shape).map(part => graph.op('CumSum', [part, axis]));
  for (let part = 0; part < sums.length - 1; part++) {
    const carry = graph.op('Floor', [graph.multiply(sums[part]!, graph.floats([2 ** -PART_BITS]))]);
    sums[part] = graph.subtract(sums[part]!, graph.multiply(carry, graph.floats([2 ** PART_BITS])));
    sums[part + 1] = graph.add(sums[part + 1]!, carry);
  }
  // 1 where the sum has not passed the target yet; the highest part that differs decides.
  const one = graph.floats([1]);
  const zero = graph.floats([0]);
  let isBefore = one;
  sums.forEach((sum, part) => {
    const target = column(`target${part}`);
    const isAbove = graph.op('Where', [graph.op('Greater', [sum, target]), zero, isBefore]);
    isBefore = graph.op('Where', [graph.op('Less', [sum, target]), one, isAbove]);
  });
  const place = graph.op('ReduceSum', [isBefore, graph.int64(1)], { keepdims: 1 });
  graph.output('place', place, 'float32', ['count', 1]);
  return graph.encode();
}

/**
 * Logit and rank of a token in the row of log probabilities. Inputs: `own`, `row` int32 `[count]`, `tokenId` int32
 * `[count, 1]`. Output: `logitAndRank` `[count, 2]`: its logit and how many tokens have a larger one.
 */
export function rankGraph(shape: GraphShape): Uint8Array {
  const graph = new GraphWriter('sampling');
  const own = graph.input('own', 'float32', ['rowCount', shape.paddedLength]);
  const row = graph.input('row', 'int32', ['count']);
  const tokenId = graph.input('tokenId', 'int32', ['count', 1]);
  const logits = graph.op('Gather', [own, row], { axis: 0 });
  const logit = graph.op('GatherElements', [logits, tokenId], { axis: 1 });
  const isAbove = graph.cast(graph.op('Greater', [logits, logit]), 'float32');
  const above = graph.op('ReduceSum', [isAbove, graph.int64(1)], { keepdims: 1 });
  graph.output('logitAndRank', graph.op('Concat', [logit, above], { axis: 1 }), 'float32', ['count', 2]);
  return graph.encode();
}

/** Whole rows. Inputs: `logits`, `rows` int32 `[rowCount]`. Output: `row` `[rowCount, vocabSize]`. */
export function readGraph({ vocabSize }: GraphShape): Uint8Array {
  const graph = new GraphWriter('sampling');
  const logits = graph.input('logits', 'float32', ['any', vocabSize]);
  const rows = graph.input('rows', 'int32', ['rowCount']);
  const selected = graph.op('Gather', [logits, rows], { axis: 0 });
  graph.output('row', selected, 'float32', ['rowCount', vocabSize]);
  return graph.encode();
}

function largestOf(graph: GraphWriter, row: Value): Value {
  return graph.op('ReduceMax', [row, graph.int64(1)], { keepdims: 1 });
}

function writeBest(graph: GraphWriter, name: string, row: Value, count: number, shape: RowShape): void {
  const { logits, tokenIds } = bestTokens(graph, row, count, shape);
  const both = [graph.reshape(logits, -1, 1, count), graph.reshape(tokenIds, -1, 1, count)];
  graph.output(name, graph.op('Concat', both, { axis: 1 }), 'float32', ['rowCount', 2, count]);
}
