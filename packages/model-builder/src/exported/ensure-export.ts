// Creates the model folder of an ONNX export: a manifest and copies of configuration and tokenizer files. The graph and its
// weights, which may be gigabytes, stay in place; the manifest has their path.

import { createHash } from 'node:crypto';
import { realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  GRAPH_FORMAT_VERSION,
  type GraphVariant,
  MANIFEST_FILE,
  type Precision,
} from '@ortler/engine/graph-contract';
import { createBuildFolder, keepIntactFolder, publishBuildFolder, writeDurably } from '../build-folder.ts';
import { type BuildManifest, findDamagedFile, readBuildManifest } from '../build-manifest.ts';
import { BUILDER_VERSION, stampPathFor } from '../content-hash.ts';
import { copyCompanions } from '../copy-companions.ts';
import { ModelBuildError } from '../errors.ts';
import { type HashOptions, hashFolders } from '../file-hashes.ts';
import { writing } from '../write-failed.ts';
import { checkDataFiles } from './check-data-files.ts';
import { checkExport } from './check-export.ts';
import { explainMissingGraph } from './explain-missing-graph.ts';
import { LAYOUT_NAMES } from './export-settings.ts';
import type { ExportedFiles } from './find-exports.ts';
import { readExportSettings } from './read-export-settings.ts';
import { readExportedGraph } from './read-exported-graph.ts';

export interface EnsureExportOptions extends HashOptions {
  readonly exports: ExportedFiles;
  readonly cacheDir: string;
  readonly precision: Precision;
  /** Device that the model will run on: `paged` for a GPU, the others for the CPU. */
  readonly variant: GraphVariant;
}

/**
 * Path of the model folder in the cache, created unless an intact one exists.
 *
 * Mutates: the disk, inside `cacheDir`. Throws: `ModelBuildError`, or the reason of `signal`.
 */
export async function ensureExport(options: EnsureExportOptions): Promise<string> {
  const { exports, cacheDir, precision, variant, onBytes, signal } = options;
  const { layout, graphFolder } = exports;
  const sourceDir = await realpath(exports.folder);
  const graphName = join(graphFolder, chooseGraph(options));
  const graphFile = join(sourceDir, graphName);
  const settings = await readExportSettings(layout, sourceDir);
  const graph = readExportedGraph(graphFile);
  const facts = checkExport({ graphFile, layout: LAYOUT_NAMES[layout], graph, settings, variant });
  const dataFiles = await checkDataFiles(graphFile, graph);

  const stampDir = join(cacheDir, 'stamps');
  const dataNames = dataFiles.map(file => join(dirname(graphName), file));
  const names = [...settings.sources, graphName, ...dataNames];
  const sourceStamps = await stampPathFor(sourceDir, stampDir);
  const [hashes] = await hashFolders([{ folder: sourceDir, names, stampPath: sourceStamps }], {
    onBytes,
    signal,
  });
  const hash = createHash('sha256');
  // The manifest has the path, so the same files elsewhere need another model folder.
  hash.update(`ortler export ${GRAPH_FORMAT_VERSION} ${BUILDER_VERSION} ${JSON.stringify(graphFile)}\n`);
  for (const [file, sha256] of [...hashes!].toSorted()) hash.update(`${file} ${sha256}\n`);
  const contentHash = hash.digest('hex');
  const outputDir = join(cacheDir, `export-${precision}-${contentHash.slice(0, 32)}`);

  return writing(outputDir, async () => {
    if (await keepIntactFolder(outputDir, () => isWhole(outputDir, contentHash))) return outputDir;
    const folder = await createBuildFolder(outputDir);
    try {
      await copyCompanions(sourceDir, folder, settings.copied);
      for (const [name, content] of settings.written)
        await writeDurably(join(folder, name), file => file.writeFile(content));
      const manifest: BuildManifest = {
        formatVersion: GRAPH_FORMAT_VERSION,
        variant: 'slots',
        precision,
        graphFile,
        inputConvention: 'mask',
        ...facts,
        contentHash,
        files: {
          ...Object.fromEntries(settings.copied.map(file => [file, hashes!.get(file)!])),
          ...Object.fromEntries([...settings.written].map(([name, content]) => [name, sha256Of(content)])),
        },
      };
      const json = `${JSON.stringify(manifest, null, 2)}\n`;
      await writeDurably(join(folder, MANIFEST_FILE), file => file.writeFile(json));
      // If another process published first, its folder has the same content.
      await publishBuildFolder(folder, outputDir);
      return outputDir;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** File name of the graph. Throws: `unsupported`, with the available files. */
function chooseGraph({ exports, precision, variant }: EnsureExportOptions): string {
  const graph = exports.graphs.get(precision);
  if (graph !== undefined) return graph.name;
  const folder = join(exports.folder, exports.graphFolder);
  const fault = explainMissingGraph(exports, { precision, variant });
  const message = `${folder} ${fault}`;
  throw new ModelBuildError('unsupported', message, { file: folder });
}

function sha256Of(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

async function isWhole(folder: string, contentHash: string): Promise<boolean> {
  const manifest = await readBuildManifest(folder).catch(() => undefined);
  if (manifest?.contentHash !== contentHash) return false;
  return (await findDamagedFile(folder, manifest, { stampPath: undefined })) === undefined;
}
