// Matrices of a gated delta network that a checkpoint stores by heads of keys: each head has the rows of its query, its key, and the
// values and gates of the heads of values that share it; another matrix has their betas and decays.
// Source: transformers, models/qwen3_next/modeling_qwen3_next.py (fix_query_key_value_ordering)

import type { GatedDeltaNet, RecurrentModules } from './decoder-config.ts';
import type { RecurrentMatrix } from './layer-matrices.ts';
import type { RowBlock } from './row-blocks.ts';

export interface HeadRows {
  readonly module: string;
  /** Rows of the matrix that is stored. */
  readonly rowCount: number;
  readonly blocks: readonly RowBlock[];
}

/** Undefined where the matrix is stored by itself. */
export function findHeadRows(
  { keyHeadCount, valueHeadCount, keySize, valueSize }: GatedDeltaNet,
  { headsInputGate, headsBetaDecay }: RecurrentModules,
  role: RecurrentMatrix,
): HeadRows | undefined {
  const shared = valueHeadCount / keyHeadCount;
  const values = shared * valueSize;
  const rowsOf = (module: string, headRows: number, parts: readonly RowBlock[]): HeadRows => ({
    module,
    rowCount: keyHeadCount * headRows,
    blocks: parts.flatMap(({ first, count }) =>
      Array.from({ length: keyHeadCount }, (_, head) => ({ first: head * headRows + first, count })),
    ),
  });
  const inputs = [
    { first: 0, count: keySize },
    { first: keySize, count: keySize },
    { first: 2 * keySize, count: values },
  ];
  const gates = { first: 2 * keySize + values, count: values };
  if (headsInputGate !== undefined && (role === 'recurrentInput' || role === 'recurrentGate'))
    return rowsOf(headsInputGate, 2 * keySize + 2 * values, role === 'recurrentInput' ? inputs : [gates]);
  if (headsBetaDecay !== undefined && (role === 'recurrentBeta' || role === 'recurrentDecay'))
    return rowsOf(headsBetaDecay, 2 * shared, [
      { first: role === 'recurrentBeta' ? 0 : shared, count: shared },
    ]);
  return undefined;
}
