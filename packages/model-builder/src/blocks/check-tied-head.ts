// Checks a stored output matrix (lm_head) of a model whose config.json ties it to the embedding table.

import { ModelBuildError } from '../errors.ts';
import type { WeightSource } from '../hugging-face/checkpoint.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import { rowChunks } from '../weights/row-chunks.ts';
import { EMBEDDING_WEIGHT } from './embedding.ts';
import { LM_HEAD_WEIGHT } from './lm-head.ts';

/**
 * A stored output matrix of a tied model must equal the embedding table. If they differ, transformers 4 ignores the matrix and
 * transformers 5 ignores `tie_word_embeddings`, so the model is ambiguous.
 *
 * Throws: `tensor_mismatch`, what `CheckpointTensor.readFloats` throws, the reason of `signal`.
 */
export async function checkTiedHead(
  checkpoint: WeightSource,
  { tiedEmbeddings, vocabSize, hiddenSize }: DecoderConfig,
  { configFile, signal }: { readonly configFile: string; readonly signal: AbortSignal | undefined },
): Promise<void> {
  if (!tiedEmbeddings || !checkpoint.has(LM_HEAD_WEIGHT)) return;
  const rowsOf = (name: string) => rowChunks([checkpoint.tensor(name, [vocabSize, hiddenSize])], hiddenSize);
  const tables = rowsOf(EMBEDDING_WEIGHT);
  let start = 0;
  for await (const head of rowsOf(LM_HEAD_WEIGHT)) {
    signal?.throwIfAborted();
    const table = (await tables.next()).value!;
    const index = head.findIndex((value, i) => value !== table[i]);
    if (index >= 0) throw differs(configFile, Math.floor((start + index) / hiddenSize));
    start += head.length;
  }
}

function differs(file: string, row: number): ModelBuildError {
  const key = 'tie_word_embeddings';
  const message = `${file}, key ${key}: is true, but tensor "${LM_HEAD_WEIGHT}" differs from "${EMBEDDING_WEIGHT}" in row ${row}: set it to false, or take the tensor out of the checkpoint`;
  return new ModelBuildError('tensor_mismatch', message, { file, key, tensor: LM_HEAD_WEIGHT });
}
