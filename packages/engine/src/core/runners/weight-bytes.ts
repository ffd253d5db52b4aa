// Size of a model's weights. Callers: `../load-core.ts` for the facts, `paged/paged-runner.ts` for what is left for caches.

import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * The graph and the data files beside it that bear its name: `model.onnx.data` of builds, `model.onnx_data`,
 * `model.onnx_data_1` and so on of exports. 0 where the folder cannot be read: loading the graph says why.
 *
 * Unit: bytes.
 */
export async function readWeightBytes(graphFile: string): Promise<number> {
  const folder = dirname(graphFile);
  const graph = basename(graphFile);
  const names = await readdir(folder).catch(() => []);
  const own = names.filter(
    name => name === graph || name.startsWith(`${graph}.data`) || name.startsWith(`${graph}_data`),
  );
  const sizes = await Promise.all(
    own.map(name =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
