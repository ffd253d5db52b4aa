// Finds the GGUF file of a source: the file itself, or the one model of a folder. It looks at file names only.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { listGgufFiles } from '@ortler/gguf';
import { ModelBuildError } from '../errors.ts';
import { checkReadable } from '../read-fault.ts';

/** Image projectors are beside their model and are not models. */
const PROJECTOR = /mmproj/i;

/**
 * Path of the file, or of the first shard. Undefined for a folder with safetensors, or without GGUF files.
 *
 * Throws: `source_invalid` for a folder with several models, and for a single file of a checkpoint or an export;
 * `source_unreadable`.
 */
export async function findGguf(source: string): Promise<string | undefined> {
  // A file without the extension too, as in caches that name files by their hash: its first bytes decide.
  const stats = await stat(source).catch(() => undefined);
  if (stats === undefined) return undefined;
  await checkReadable(source);
  if (!stats.isDirectory()) {
    if (/\.(safetensors|onnx|json)$/i.test(source)) {
      const message = `${source} is one file of a model; give the path of its folder`;
      throw new ModelBuildError('source_invalid', message, { file: source });
    }
    return source;
  }
  const names = await readdir(source).catch(() => []);
  if (names.some(name => name.endsWith('.safetensors'))) return undefined;
  const models = new Set<string>();
  for (const name of names.toSorted())
    if (/\.gguf$/i.test(name) && !PROJECTOR.test(name)) models.add(listGgufFiles(join(source, name))[0]!);
  if (models.size <= 1) return models.values().next().value;
  const list = [...models].join(', ');
  const message = `${source} holds several GGUF models; give the path of one of them: ${list}`;
  throw new ModelBuildError('source_invalid', message, { file: source });
}
