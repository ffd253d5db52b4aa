// The files of a repository that a build needs, from the list of its paths. The same choice is made on a snapshot of the cache,
// to see whether it is complete.

import { HubError } from './errors.ts';
import { chooseGguf, hasGguf } from './gguf-files.ts';

export interface ChosenFiles {
  readonly kind: 'safetensors' | 'gguf' | 'adapter' | 'onnx';
  /** Small files. They appear in a snapshot before the weights, so that one with weights is complete. */
  readonly companions: readonly string[];
  readonly weights: readonly string[];
  /** The weights file to open, or the folder of a graph; undefined where the whole snapshot is opened. */
  readonly entry: string | undefined;
}

/** Files of one model in a repository of ONNX graphs, as the caller chooses them: this package knows no graphs. */
export type GraphChoice =
  | {
      readonly kind: 'chosen';
      /** Folder of configuration and tokenizer, relative to the repository; empty for itself. */
      readonly folder: string;
      /** They appear in a snapshot in this order. */
      readonly weights: readonly string[];
    }
  /** `fault` continues the name of the repository. */
  | { readonly kind: 'refused'; readonly fault: string };

export interface Listing {
  readonly repository: string;
  readonly paths: readonly string[];
  readonly quant: string | undefined;
  /** Text of a small file. Called for the index of sharded weights. */
  readonly readText: (path: string) => Promise<string>;
  /** Undefined result: the repository has no graphs that are known. Absent: graphs are not taken. */
  readonly chooseGraph?: (() => Promise<GraphChoice | undefined>) | undefined;
}

const WEIGHTS = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';
const ADAPTER_CONFIG = 'adapter_config.json';
const ADAPTER_WEIGHTS = 'adapter_model.safetensors';

/** Configuration, tokenizer and chat templates: in the root of the repository, except for named templates. */
const COMPANION =
  /^(config\.json|generation_config\.json|tokenizer[^/]*|special_tokens_map\.json|added_tokens\.json|vocab\.json|merges\.txt|chat_template[^/]*|additional_chat_templates\/[^/]+\.jinja)$/;

/** Further companions of a graph. */
const GRAPH_COMPANION = /^genai_config\.json$/;

/** Throws: `unsupported` for other formats, `not_found` for missing files or quantisations, and the errors of `readText`. */
export async function chooseFiles(listing: Listing): Promise<ChosenFiles> {
  const { repository, paths, quant } = listing;
  const all = new Set(paths);
  const has = (path: string) => all.has(path);
  const isCheckpoint = has(WEIGHTS) || has(INDEX);
  if (quant !== undefined || (!isCheckpoint && !has(ADAPTER_WEIGHTS) && hasGguf(paths))) {
    const chosen = chooseGguf(repository, paths, quant);
    return { kind: 'gguf', companions: [], weights: chosen.paths, entry: chosen.paths[0]! };
  }
  if (isCheckpoint) {
    if (!has('config.json')) throw new HubError('unsupported', `${repository} has no config.json.`);
    const companions = paths.filter(path => COMPANION.test(path));
    if (has(WEIGHTS)) return { kind: 'safetensors', companions, weights: [WEIGHTS], entry: undefined };
    const weights = readShards(repository, await listing.readText(INDEX));
    const missing = weights.find(path => !has(path));
    if (missing !== undefined)
      throw new HubError('not_found', `${repository} lacks ${missing}, which its ${INDEX} names.`);
    return { kind: 'safetensors', companions: [...companions, INDEX], weights, entry: undefined };
  }
  if (has(ADAPTER_CONFIG) && has(ADAPTER_WEIGHTS))
    return { kind: 'adapter', companions: [ADAPTER_CONFIG], weights: [ADAPTER_WEIGHTS], entry: undefined };
  const graph = hasGraphs(paths) ? await listing.chooseGraph?.() : undefined;
  if (graph !== undefined) return graphFiles(listing, graph);
  throw new HubError('unsupported', `${repository} ${describeOthers(paths)}`);
}

/** Whether the repository may have a model in ONNX. */
export function hasGraphs(paths: readonly string[]): boolean {
  return paths.some(path => path.endsWith('.onnx'));
}

function graphFiles({ repository, paths }: Listing, graph: GraphChoice): ChosenFiles {
  if (graph.kind === 'refused') throw new HubError('not_found', `${repository} ${graph.fault}.`);
  const { folder, weights } = graph;
  const start = folder === '' ? '' : `${folder}/`;
  const companions = paths.filter(path => {
    const name = path.slice(start.length);
    return path.startsWith(start) && (COMPANION.test(name) || GRAPH_COMPANION.test(name));
  });
  return { kind: 'onnx', companions, weights, entry: folder === '' ? undefined : folder };
}

/** Names of the shards of an index, each once and sorted. */
function readShards(repository: string, text: string): readonly string[] {
  let parsed: { readonly weight_map?: unknown } | null = null;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Refused below, with the other faults of the index.
  }
  const names = Object.values(Object(parsed?.weight_map)) as readonly unknown[];
  // A shard is beside its index.
  if (
    names.length > 0 &&
    names.every(name => typeof name === 'string' && /^[\w.-]+\.safetensors$/.test(name))
  )
    return [...new Set(names as readonly string[])].toSorted();
  throw new HubError('reply_invalid', `${repository} has a ${INDEX} without a usable "weight_map".`);
}

function describeOthers(paths: readonly string[]): string {
  const wanted = 'Give a repository with model.safetensors or with GGUF files.';
  const pickle = paths.find(path => /\.(bin|pt|pth|ckpt)$/.test(path) && !path.includes('/'));
  if (pickle !== undefined)
    return `has its weights in ${pickle} only, a Python pickle, which can run code when it is read. ${wanted}`;
  const graph = paths.find(path => path.endsWith('.onnx'));
  if (graph !== undefined)
    return `has ONNX graphs only (${graph}), in no layout that is loaded by name: those are onnx/model*.onnx of Optimum and transformers.js, and genai_config.json of onnxruntime-genai.`;
  const other = paths.find(path => path.endsWith('.safetensors'));
  if (other !== undefined) return `has ${other}, but neither ${WEIGHTS} nor ${INDEX}. ${wanted}`;
  return `has no weights. ${wanted}`;
}
