// Names of a model that is split into several files: name-00001-of-00003.gguf.

import { basename, dirname, join } from 'node:path';

const SHARD = /^(.*-)(\d{5})-of-(\d{5})(\.gguf)$/i;

/** All files of the model that `path` is a file of, in order: itself where its name is not that of a shard. */
export function listGgufFiles(path: string): readonly string[] {
  const [, stem, number, total, extension] = SHARD.exec(basename(path)) ?? [];
  const count = Number(total);
  if (stem === undefined || Number(number) < 1 || Number(number) > count) return [path];
  return Array.from({ length: count }, (_, i) => {
    const digits = String(i + 1).padStart(5, '0');
    return join(dirname(path), `${stem}${digits}-of-${total}${extension}`);
  });
}
