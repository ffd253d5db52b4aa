// Which files of a published repository of ONNX graphs one model has, from the list of its files: of each precision and device there
// are others, and a repository may have tens of gigabytes of them.

import { dirname, posix } from 'node:path';
import { type GraphVariant, isGpuVariant, type Precision } from '@ortler/engine/graph-contract';
import { chooseExport } from './choose-precision.ts';
import { ModelBuildError } from './errors.ts';
import { explainMissingGraph } from './exported/explain-missing-graph.ts';
import { filesOfGraph, graphsByPrecision, OPTIMUM_FOLDER } from './exported/find-exports.ts';
import { GENAI_CONFIG_FILE } from './exported/genai-config.ts';
import { type GenaiFolder, providersOf, suitableFolders } from './exported/genai-folders.ts';

export interface PublishedFiles {
  /** Paths are relative to the repository, with slashes. */
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** Text of a small file. */
  readText(path: string): Promise<string>;
}

export interface ChooseExportFilesOptions {
  readonly precision: 'auto' | Precision;
  /** `paged` for a GPU, the others for the CPU. */
  readonly variant: GraphVariant;
}

export type ExportChoice =
  | {
      readonly kind: 'chosen';
      /** Folder of configuration and tokenizer, relative to the repository; empty for itself. */
      readonly folder: string;
      /** The graph comes last: where it is, its data files are too. */
      readonly weights: readonly string[];
    }
  /** `fault` continues the name of the repository. */
  | { readonly kind: 'refused'; readonly fault: string };

/** Undefined for a repository in neither layout. Throws: as `readText`. */
export async function chooseExportFiles(
  { files, readText }: PublishedFiles,
  options: ChooseExportFilesOptions,
): Promise<ExportChoice | undefined> {
  const sizes = new Map(files.map(({ path, size }) => [path, size]));
  const optimum = filesIn(sizes, OPTIMUM_FOLDER);
  if (optimum.some(name => name.endsWith('.onnx'))) return chooseOptimumFiles(sizes, optimum, options);
  const settings = [...sizes.keys()].filter(path => posix.basename(path) === GENAI_CONFIG_FILE);
  return settings.length === 0 ? undefined : chooseGenaiFiles(sizes, settings, readText, options);
}

function chooseOptimumFiles(
  sizes: ReadonlyMap<string, number>,
  files: readonly string[],
  { precision: wanted, variant }: ChooseExportFilesOptions,
): ExportChoice {
  const names = files.filter(name => name.endsWith('.onnx')).toSorted();
  const pathsOf = (name: string) => filesOfGraph(files, name).map(file => `${OPTIMUM_FOLDER}/${file}`);
  const graphs = new Map(
    [...graphsByPrecision(names, variant)].map(([precision, name]) => {
      const bytes = pathsOf(name).reduce((sum, path) => sum + sizes.get(path)!, 0);
      return [precision, { name, bytes }] as const;
    }),
  );
  const precision = wanted === 'auto' ? chooseExport(graphs, variant) : wanted;
  const graph = graphs.get(precision);
  if (graph === undefined)
    return { kind: 'refused', fault: explainMissingGraph({ graphs, names }, { precision, variant }) };
  return {
    kind: 'chosen',
    folder: '',
    weights: graphLast(pathsOf(graph.name), `${OPTIMUM_FOLDER}/${graph.name}`),
  };
}

interface PublishedFolder extends GenaiFolder {
  /** Relative to the folder. */
  readonly graph: string;
}

/** Parts of the names of folders, such as `cpu-int4-rtn-block-32-acc-level-4`. */
const NAMED_PRECISIONS: Readonly<Record<Precision, RegExp | undefined>> = {
  f32: /fp32|f32/i,
  f16: /fp16|f16/i,
  q8: /int8|q8/i,
  q4: /int4|q4/i,
  file: undefined,
};
/** Activations are rounded to 8 bits, which is several times faster on a CPU. */
const FAST_ON_CPU = /acc-level-4/i;

async function chooseGenaiFiles(
  sizes: ReadonlyMap<string, number>,
  settings: readonly string[],
  readText: PublishedFiles['readText'],
  { precision, variant }: ChooseExportFilesOptions,
): Promise<ExportChoice> {
  const found: PublishedFolder[] = [];
  for (const path of settings.toSorted()) {
    const folder = await readFolder(path, await readText(path));
    if (folder !== undefined) found.push(folder);
  }
  const suitable = suitableFolders(found, variant).filter(
    // A name without a precision is taken at its word by the builder, which reads the graph.
    ({ path }) => precision === 'auto' || !namesPrecision(path) || NAMED_PRECISIONS[precision]?.test(path),
  );
  const chosen = suitable.find(({ path }) => !isGpuVariant(variant) && FAST_ON_CPU.test(path)) ?? suitable[0];
  if (chosen === undefined) {
    const list = found.map(({ path, providers }) => `${path || '.'} (${providers.join(', ') || 'cpu'})`);
    const wish = precision === 'auto' ? '' : ` of precision ${precision}`;
    return {
      kind: 'refused',
      fault: `has no folder for this device${wish}; it has ${list.join(', ') || 'none that can be read'}`,
    };
  }
  const graph = posix.join(chosen.path, chosen.graph);
  if (!sizes.has(graph))
    return {
      kind: 'refused',
      fault: `lacks ${graph}, which ${posix.join(chosen.path, GENAI_CONFIG_FILE)} names`,
    };
  return {
    kind: 'chosen',
    folder: chosen.path,
    weights: graphLast(filesOfGraph([...sizes.keys()], graph), graph),
  };
}

function namesPrecision(path: string): boolean {
  return Object.values(NAMED_PRECISIONS).some(pattern => pattern?.test(path));
}

/** Undefined for settings that cannot be read: another folder may be meant. */
async function readFolder(path: string, text: string): Promise<PublishedFolder | undefined> {
  try {
    const json = JSON.parse(text) as {
      readonly model?: { readonly decoder?: { readonly filename?: unknown } };
    };
    const { filename } = json.model?.decoder ?? {};
    if (typeof filename !== 'string') return undefined;
    const folder = dirname(path) === '.' ? '' : dirname(path);
    return { path: folder, providers: providersOf(path, json), graph: filename };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ModelBuildError) return undefined;
    throw error;
  }
}

/** Names of the files in the folder itself. */
function filesIn(sizes: ReadonlyMap<string, number>, folder: string): readonly string[] {
  return [...sizes.keys()].filter(path => posix.dirname(path) === folder).map(path => posix.basename(path));
}

function graphLast(paths: readonly string[], graph: string): readonly string[] {
  return [...paths.filter(path => path !== graph).toSorted(), graph];
}
