// Checks the data files of an exported graph before they are hashed and opened: ONNX Runtime names the tensor that it misses, and not
// the file. Callers: `ensure-export.ts`, `../inspect/describe-export.ts`.

import { open, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type FoundGraph, GIT_LFS_START } from '@ortler/onnx';
import { ModelBuildError } from '../errors.ts';
import { readFault } from '../read-fault.ts';

/**
 * Names of the data files, which are all there with the bytes that the graph names. Throws: `unsupported` for files elsewhere than
 * beside the graph, `source_invalid`, `source_unreadable`, `weights_corrupt`.
 */
export async function checkDataFiles(
  graphFile: string,
  { weights }: Pick<FoundGraph, 'weights'>,
): Promise<readonly string[]> {
  const ends = new Map<string, number>();
  for (const { file, offset, length = 0 } of weights.values())
    if (file !== undefined) ends.set(file, Math.max(ends.get(file) ?? 0, offset + length));
  for (const [name, end] of ends) {
    if (name !== basename(name)) {
      const message = `${graphFile} has weights in "${name}"; they must be in files beside it`;
      throw new ModelBuildError('unsupported', message, { file: graphFile });
    }
    await checkDataFile(join(dirname(graphFile), name), end);
  }
  return [...ends.keys()];
}

async function checkDataFile(file: string, end: number): Promise<void> {
  const stats = await stat(file).catch((cause: unknown) => {
    throw readFault(file, cause);
  });
  if (!stats.isFile()) throw new ModelBuildError('source_invalid', `${file} is not a file`, { file });
  if (stats.size >= end) return;
  const fault = (await isGitLfsPointer(file))
    ? 'is a pointer of Git LFS, not the weights: fetch them with "git lfs pull"'
    : `is truncated: the graph names weights up to byte ${end}, and it ends at byte ${stats.size}`;
  throw new ModelBuildError('weights_corrupt', `${file} ${fault}`, { file });
}

async function isGitLfsPointer(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch((cause: unknown) => {
    throw readFault(path, cause);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(GIT_LFS_START.length), 0);
    return buffer.toString('latin1', 0, bytesRead) === GIT_LFS_START;
  } finally {
    await file.close();
  }
}
