// Compiles and links the library of one platform. The bytes depend on nothing but the sources, `targets.mjs` and the compiler:
// paths are relative, and debug information, time stamps and build ids are left out.

import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clearTime } from './pe-times.mjs';
import { forEachAtOnce } from './programs.mjs';
import { SOURCES } from './source-hash.mjs';
import { FLAGS, TARGETS } from './targets.mjs';

/** Gives the bytes of the library. `folder` is emptied and holds what arises on the way. */
export async function buildLibrary(compiler, platform, hash, folder) {
  const { triple, ending, objects, compile, link } = TARGETS[platform];
  const sources = fileURLToPath(SOURCES);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const objectOf = source => source.replace(/\.c$/, '.o');
  await forEachAtOnce(objects, ({ source, cpu, flags: own = [] }) => {
    const flags = [
      ...FLAGS,
      ...own,
      ...compile,
      '-target',
      triple,
      `-mcpu=${cpu}`,
      `-DSOURCE_HASH="${hash}"`,
    ];
    return compiler(
      `Compiling ${source} for ${platform}`,
      [...flags, '-c', source, '-o', join(folder, objectOf(source))],
      sources,
    );
  });
  const name = `ortler-kernels.${ending}`;
  const inputs = objects.map(({ source }) => objectOf(source));
  await compiler(
    `Linking for ${platform}`,
    ['-target', triple, '-shared', '-s', ...link, '-o', name, ...inputs],
    folder,
  );
  const bytes = await readFile(join(folder, name));
  if (ending === 'dll') clearTime(bytes);
  return bytes;
}
