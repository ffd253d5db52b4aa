// A model of the cache, without a word to the Hub: whatever program put it there.

import { readFile, stat } from 'node:fs/promises';
import type { RepositoryFolder } from './cache/layout.ts';
import { listSnapshot } from './cache/snapshot.ts';
import { type ChosenFiles, chooseFiles } from './choose-files.ts';
import { HubError } from './errors.ts';
import type { FetchModelOptions } from './fetch-options.ts';
import type { ModelReference } from './model-reference.ts';

export interface CachedModel {
  readonly kind: ChosenFiles['kind'];
  /** The folder of the snapshot, or for GGUF the file or its first shard. */
  readonly path: string;
  readonly commit: string;
}

/**
 * The model in the snapshot of a commit; undefined where it is not there or not complete. A checkpoint or export is
 * complete with its configuration, a tokenizer and all weights, because downloads show weights last.
 */
export async function findCachedModel(
  folder: RepositoryFolder,
  commit: string,
  { repository, quant }: Pick<ModelReference, 'repository' | 'quant'>,
  chooseGraph: FetchModelOptions['chooseGraph'],
): Promise<CachedModel | undefined> {
  const paths = await listSnapshot(folder, commit);
  const readText = (path: string) => readFile(folder.link(commit, path), 'utf8');
  const chooseHere = async () => {
    const sizes = await Promise.all(paths.map(async path => (await stat(folder.link(commit, path))).size));
    return chooseGraph!({ files: paths.map((path, i) => ({ path, size: sizes[i]! })), readText });
  };
  try {
    const { kind, entry, companions } = await chooseFiles({
      repository,
      paths,
      quant,
      readText,
      chooseGraph: chooseGraph && chooseHere,
    });
    if (
      (kind === 'safetensors' || kind === 'onnx') &&
      !companions.some(path => /(^|\/)(tokenizer|vocab)/.test(path))
    )
      return undefined;
    const path = entry === undefined ? folder.snapshot(commit) : folder.link(commit, entry);
    return { kind, path, commit };
  } catch (error) {
    if (error instanceof HubError) return undefined;
    throw error;
  }
}
