// Checks a stored output matrix (lm_head) of a model whose config.json ties it to the embedding table.

import { ModelBuildError } from '../errors.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { DecoderWeights } from '../hugging-face/decoder-weights.ts';
import { rowChunks } from '../weights/row-chunks.ts';

/**
 * A stored output matrix of a tied model must equal the embedding table. If they differ, transformers 4 ignores the matrix and
 * transformers 5 ignores `tie_word_embeddings`, so the model is ambiguous.
 *
 * Throws: `tensor_mismatch`, what `CheckpointTensor.readFloats` throws, the reason of `signal`.
 */
export async function checkTiedHead(
  weights: DecoderWeights,
  { tiedEmbeddings, hiddenSize }: DecoderConfig,
  { configFile, signal }: { readonly configFile: string; readonly signal: AbortSignal | undefined },
): Promise<void> {
  if (!tiedEmbeddings || !weights.source.has(weights.headName)) return;
  const embedding = weights.embedding();
  const tables = rowChunks([embedding], hiddenSize);
  let start = 0;
  for await (const head of rowChunks([weights.head()], hiddenSize)) {
    signal?.throwIfAborted();
    const table = (await tables.next()).value!;
    const index = head.findIndex((value, i) => value !== table[i]);
    if (index >= 0)
      throw differs(configFile, Math.floor((start + index) / hiddenSize), [weights.headName, embedding.name]);
    start += head.length;
  }
}

function differs(
  file: string,
  row: number,
  [head, table]: readonly [head: string, table: string],
): ModelBuildError {
  const key = 'tie_word_embeddings';
  const message = `${file}, key ${key}: is true, but tensor "${head}" differs from "${table}" in row ${row}: set it to false, or take the tensor out of the checkpoint`;
  return new ModelBuildError('tensor_mismatch', message, { file, key, tensor: head });
}
