// Positions of the tokens of a call, for graphs whose sequences are rows.

import { SLOTS_INPUT } from '@ortler/engine/graph-contract';
import { ELEMENT_TYPES, type GraphRecorder, int } from '@ortler/onnx';

/** Name of the positions. Shape: `[batch, length]`. Type: int64. */
export const POSITIONS = '/model/positions/Add_2/output_0';

/**
 * ```
 *   first = last_positions - length + 1         [batch, 1]
 *   positions = first + Range(0, length)        [batch, length]
 * ```
 * Once for all layers, before the first.
 */
export function declarePositions(graph: GraphRecorder): void {
  const path = '/model/positions';
  const integer = (name: string, value: number) => graph.constant(`${path}/${name}`, 'int64', [value]);
  const op = (name: string, inputs: readonly string[], suffix = '') =>
    graph.op(`${path}/${name}${suffix}`, name, inputs);
  const [one, zero] = [integer('one', 1), integer('zero', 0)];
  const shape = op('Shape', [SLOTS_INPUT.inputIds]);
  const length = op('Gather', [shape, one]);
  const scalar = (value: string, name: string) => op('Squeeze', [value, zero], name);
  const offsets = op('Range', [scalar(zero, '_0'), scalar(length, '_1'), scalar(one, '_2')]);
  const last = graph.op(`${path}/Cast`, 'Cast', [SLOTS_INPUT.lastPositions], {
    attributes: { to: int(ELEMENT_TYPES.int64.onnxType) },
  });
  const first = op('Add', [op('Sub', [last, length]), one], '_1');
  op('Add', [op('Unsqueeze', [first, one]), offsets], '_2');
}
