// Matrices of several roles that a checkpoint stores as one: which rows are whose.

import { convolvedSize, type DecoderConfig } from './decoder-config.ts';
import { isRecurrentMatrix, type LayerMatrix } from './layer-matrices.ts';

/** Rows of a matrix of several roles. */
export interface FusedRows {
  readonly module: string;
  readonly firstRow: number;
  /** Of the whole matrix. */
  readonly rowCount: number;
}

export interface FusedRowsQuery {
  readonly layer: number;
  readonly role: LayerMatrix;
  /** Module of the layer's gates and ups, where they are one matrix. */
  readonly gateUp: string | undefined;
}

/** Where the rows of a matrix are; undefined where it is stored alone. */
export function findFusedRows(
  { headCount, hiddenSize, modules, layers }: DecoderConfig,
  { layer, role, gateUp }: FusedRowsQuery,
): FusedRows | undefined {
  const { kvHeadCount, headSize, intermediateSize, recurrent } = layers[layer]!;
  const { gateInputDecay } = modules.recurrent;
  if (recurrent?.kind === 'mamba-2' && gateInputDecay !== undefined && isRecurrentMatrix(role)) {
    if (role === 'recurrentOutput') return undefined;
    const gates = recurrent.headCount * recurrent.headSize;
    const inputs = convolvedSize(recurrent, hiddenSize);
    const rowCount = gates + inputs + recurrent.headCount;
    const firstRow = role === 'recurrentGate' ? 0 : role === 'recurrentInput' ? gates : gates + inputs;
    return { module: gateInputDecay, firstRow, rowCount };
  }
  if (role === 'gate' || role === 'up') {
    const firstRow = role === 'gate' ? 0 : intermediateSize;
    return gateUp === undefined ? undefined : { module: gateUp, firstRow, rowCount: 2 * intermediateSize };
  }
  if (modules.queryKeyValue === undefined) return undefined;
  if (role !== 'query' && role !== 'key' && role !== 'value') return undefined;
  const [queries, keys] = [headCount * headSize, kvHeadCount * headSize];
  const firstRow = { query: 0, key: queries, value: queries + keys }[role];
  return { module: modules.queryKeyValue, firstRow, rowCount: queries + 2 * keys };
}
