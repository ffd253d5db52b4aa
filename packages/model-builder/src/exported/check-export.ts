// Checks that an ONNX export of another program can run with a KV cache that is updated in place, and derives the facts for
// its manifest.

import {
  type GraphVariant,
  isGpuVariant,
  MASK_INPUT,
  type ModelManifest,
  pastName,
  presentName,
  SLOTS_OUTPUT,
} from '@ortler/engine/graph-contract';
import { ELEMENT_TYPES, type FoundGraph, type FoundNode, type FoundValue, MICROSOFT } from '@ortler/onnx';
import { ModelBuildError } from '../errors.ts';
import { countParameters } from './count-parameters.ts';
import type { ExportSettings, RepeatedSizes } from './export-settings.ts';

export type ExportFacts = Pick<
  ModelManifest,
  | 'modelType'
  | 'layerCount'
  | 'headCount'
  | 'kvHeadCount'
  | 'headSize'
  | 'hiddenSize'
  | 'vocabSize'
  | 'contextLength'
  | 'parameterCount'
  | 'kvType'
  | 'logitsType'
>;

export interface ExportToCheck {
  /** For messages. */
  readonly graphFile: string;
  /** Name of the layout, for messages. */
  readonly layout: string;
  readonly graph: FoundGraph;
  readonly settings: Pick<ExportSettings, 'configFile' | 'config' | 'repeated' | 'windowSize' | 'cpuChoice'>;
  /** Device that the model will run on: `paged` for a GPU, the others for the CPU. */
  readonly variant: GraphVariant;
}

const ATTENTION = 'GroupQueryAttention';
/** Indexes of the operator's inputs. */
const INPUT_INDEX = {
  pastKey: 3,
  pastValue: 4,
  lastPositions: 5,
  totalLength: 6,
  cosine: 7,
  sine: 8,
  queryNorm: 14,
  keyNorm: 15,
} as const;

/** Throws: `config_invalid`, and `unsupported` with the fault of the graph and the allowed form. */
export function checkExport(toCheck: ExportToCheck): ExportFacts {
  const { graphFile, layout, graph, settings, variant } = toCheck;
  const { config } = settings;
  const refuse = (problem: string): never => {
    const message = `${graphFile} (layout of ${layout}) ${problem}`;
    throw new ModelBuildError('unsupported', message, { file: graphFile });
  };
  const layerCount = checkInputs(graph, refuse);
  const { kvHeadCount, headSize, kvType } = checkCache(graph, layerCount, {
    named: settings.repeated?.headSize,
    refuse,
  });
  const attentions = Array.from({ length: layerCount }, (_, layer) => checkAttention(graph, layer, refuse));
  checkMaskUse(graph, refuse);
  const headCount = attentions[0]!.integers.get('num_heads') ?? 0;
  if (headCount < 1) refuse(`has a ${ATTENTION} without num_heads`);
  const { vocabSize, logitsType } = checkLogits(graph, config.vocabSize, refuse);
  if (!isGpuVariant(variant) && [kvType, logitsType].includes('float16'))
    refuse(`has caches or logits in float16, which need a GPU; on the CPU use ${settings.cpuChoice}`);
  if (!isGpuVariant(variant) && attentions.some(normalises))
    refuse(
      `normalises queries and keys in ${ATTENTION}, which needs a GPU; on the CPU use ${settings.cpuChoice}`,
    );
  const contextLength = Math.min(config.contextLength, ...attentions.map(node => rotaryLength(graph, node)));
  const hasWindow = attentions.some(({ integers }) => (integers.get('local_window_size') ?? -1) > 0);
  const { windowSize = contextLength } = settings;
  if (windowSize < contextLength && !hasWindow)
    refuse(
      `has no sliding window, but ${settings.configFile} names one of ${windowSize} tokens: longer texts would be computed wrongly`,
    );
  checkRepeated(settings, { layerCount, headCount, kvHeadCount, headSize });
  return {
    modelType: config.modelType,
    hiddenSize: config.hiddenSize,
    layerCount,
    headCount,
    kvHeadCount,
    headSize,
    vocabSize,
    kvType,
    ...(logitsType === 'float32' ? {} : { logitsType }),
    contextLength,
    parameterCount: countParameters(graph),
  };
}

type Refuse = (problem: string) => never;
type FloatName = NonNullable<ModelManifest['logitsType']>;

/** Undefined for anything but float32 and float16. */
function floatName(onnxType: number): FloatName | undefined {
  const names: readonly FloatName[] = ['float32', 'float16'];
  return names.find(name => ELEMENT_TYPES[name].onnxType === onnxType);
}

/** Checks the inputs and counts the layers by their caches. */
function checkInputs({ inputs }: FoundGraph, refuse: Refuse): number {
  const names = new Set(inputs.map(({ name }) => name));
  let layerCount = 0;
  while (names.has(pastName(layerCount, 'key'))) layerCount++;
  const caches = Array.from({ length: layerCount }, (_, layer) => [
    pastName(layer, 'key'),
    pastName(layer, 'value'),
  ]).flat();
  const needed = [MASK_INPUT.inputIds, MASK_INPUT.attentionMask, pastName(0, 'key'), ...caches];
  const missing = needed.find(name => !names.has(name));
  if (missing !== undefined) refuse(`has no input "${missing}": it is not a decoder with a cache`);
  const allowed = new Set<string>([...needed, MASK_INPUT.positionIds]);
  const other = inputs.find(({ name }) => !allowed.has(name));
  if (other !== undefined) {
    const list = Object.values(MASK_INPUT).join(', ');
    refuse(`has an input "${other.name}"; allowed: ${list} and past keys and values`);
  }
  for (const name of Object.values(MASK_INPUT)) {
    const input = inputs.find(entry => entry.name === name);
    if (input !== undefined && input.onnxType !== ELEMENT_TYPES.int64.onnxType)
      refuse(`has an input "${name}" that is not int64`);
  }
  return layerCount;
}

/**
 * Checks that all caches have the same shape and type, and returns them. `named`: the head size in the settings, for graphs of
 * onnxruntime-genai since 0.18, which leave it open to serve quantised caches too.
 */
function checkCache(
  { inputs }: FoundGraph,
  layerCount: number,
  { named, refuse }: { readonly named: number | undefined; readonly refuse: Refuse },
): Pick<ModelManifest, 'kvHeadCount' | 'headSize'> & { readonly kvType: FloatName } {
  const caches = inputs.filter(({ name }) => /\.(key|value)$/.test(name));
  const first = caches[0]!;
  const shapeOf = ({ dims, onnxType }: FoundValue) => `${dims.length}/${dims[1]}/${dims[3]}/${onnxType}`;
  const other = caches.find(cache => shapeOf(cache) !== shapeOf(first));
  if (other !== undefined || caches.length !== 2 * layerCount) {
    const name = other?.name ?? first.name;
    refuse(`has a cache "${name}" of another shape or type than "${first.name}"; all layers must be alike`);
  }
  const { dims, onnxType } = first;
  const [, kvHeadCount, , size] = dims;
  const headSize = typeof size === 'string' ? named : size;
  if (dims.length !== 4 || typeof kvHeadCount !== 'number' || typeof headSize !== 'number')
    return refuse(
      `has a cache "${first.name}" of shape [${dims.join(', ')}]; allowed: [batch, heads, tokens, size]`,
    );
  const kvType = floatName(onnxType);
  if (kvType === undefined) return refuse(`has a cache "${first.name}" that is neither float32 nor float16`);
  return { kvHeadCount, headSize, kvType };
}

/** Finds and checks the attention operator of a layer. */
function checkAttention(graph: FoundGraph, layer: number, refuse: Refuse): FoundNode {
  const [pastKey, pastValue] = [pastName(layer, 'key'), pastName(layer, 'value')];
  const [node, ...others] = graph.nodes.filter(
    ({ inputs }) => inputs.includes(pastKey) || inputs.includes(pastValue),
  );
  if (node === undefined) return refuse(`does not use its input "${pastKey}"`);
  if (others.length > 0 || node.opType !== ATTENTION || node.domain !== MICROSOFT) {
    const kinds = [...new Set([node, ...others].map(({ opType }) => opType))].join(' and ');
    return refuse(
      `appends to its cache of layer ${layer} with ${kinds}; only graphs with ${ATTENTION}, which updates it in place, are run. Use a folder with *.safetensors, or export it again with ${ATTENTION}`,
    );
  }
  const isInPlace =
    node.inputs[INPUT_INDEX.pastKey] === pastKey &&
    node.inputs[INPUT_INDEX.pastValue] === pastValue &&
    node.outputs[1] === presentName(layer, 'key') &&
    node.outputs[2] === presentName(layer, 'value');
  if (!isInPlace)
    refuse(`has a ${ATTENTION} in layer ${layer} whose caches are not the graph's inputs and outputs`);
  if ((node.integers.get('sliding_window_cache') ?? 0) !== 0)
    refuse(
      `keeps only the last tokens of a sliding window in its cache of layer ${layer}, which cannot be cut or shared; export it again with caches of the whole context (windowed_kv_cache=false)`,
    );
  return node;
}

/** The CPU's kernel has no norms of queries and keys. */
function normalises({ inputs }: FoundNode): boolean {
  return Boolean(inputs[INPUT_INDEX.queryNorm]) || Boolean(inputs[INPUT_INDEX.keyNorm]);
}

/** Throws: `config_invalid` when the settings name another size than the graph has. */
function checkRepeated(
  { configFile, repeated }: Pick<ExportSettings, 'configFile' | 'repeated'>,
  found: RepeatedSizes,
): void {
  if (repeated === undefined) return;
  const keys = ['layerCount', 'headCount', 'kvHeadCount', 'headSize'] as const;
  const other = keys.find(key => repeated[key] !== found[key]);
  if (other === undefined) return;
  const key = REPEATED_KEYS[other];
  const message = `${configFile}, key ${key}: is ${repeated[other]}, but the graph has ${found[other]}`;
  throw new ModelBuildError('config_invalid', message, { file: configFile, key });
}

/** Keys of genai_config.json, the one file that repeats sizes. */
const REPEATED_KEYS: Readonly<Record<keyof RepeatedSizes, string>> = {
  layerCount: 'model.decoder.num_hidden_layers',
  headCount: 'model.decoder.num_attention_heads',
  kvHeadCount: 'model.decoder.num_key_value_heads',
  headSize: 'model.decoder.head_size',
};

/**
 * Only the lengths of sequences may derive from the attention mask. The engine pads on the right, other callers of such graphs
 * on the left, so positions or biases derived from the mask would be wrong.
 */
function checkMaskUse({ nodes, outputs }: FoundGraph, refuse: Refuse): void {
  const lengths: readonly number[] = [INPUT_INDEX.lastPositions, INPUT_INDEX.totalLength];
  const mask = MASK_INPUT.attentionMask;
  const followers = new Set<string>([mask]);
  // Nodes are in topological order.
  for (const node of nodes) {
    const follows = node.inputs.map(name => followers.has(name));
    if (node.opType === ATTENTION) {
      if (lengths.some(index => !follows[index]))
        refuse(`has a ${ATTENTION} (${node.path}) whose lengths do not follow from "${mask}"`);
      const other = node.inputs.find((_, index) => follows[index] && !lengths.includes(index));
      const isTable = [INPUT_INDEX.cosine, INPUT_INDEX.sine].some(index => follows[index]);
      if (isTable)
        refuse(
          `chooses its rotary tables by "${mask}" (LongRoPE), which differs between sequences of a batch; only one table is run`,
        );
      if (other !== undefined)
        refuse(`computes "${other}" from "${mask}", from which only the lengths of sequences may follow`);
    } else if (follows.includes(true)) for (const name of node.outputs) followers.add(name);
  }
  const output = outputs.find(({ name }) => followers.has(name));
  if (output !== undefined) refuse(`computes "${output.name}" from "${mask}" itself`);
}

/** Number of positions in the rotary tables, if they are weights of the graph. */
function rotaryLength({ weights }: FoundGraph, { inputs }: FoundNode): number {
  return weights.get(inputs[INPUT_INDEX.cosine] ?? '')?.dims[0] ?? Number.POSITIVE_INFINITY;
}

/** Checks the logits and returns their row length and type. */
function checkLogits(
  { outputs }: FoundGraph,
  configured: number,
  refuse: Refuse,
): { readonly vocabSize: number; readonly logitsType: FloatName } {
  const logits = outputs.find(({ name }) => name === SLOTS_OUTPUT.logits);
  if (logits === undefined) return refuse(`has no output "${SLOTS_OUTPUT.logits}"`);
  const { dims, onnxType } = logits;
  const logitsType = floatName(onnxType);
  if (logitsType === undefined) return refuse('has logits that are neither float32 nor float16');
  if (dims.length !== 3 || typeof dims[1] === 'number')
    refuse(
      `has logits of shape [${dims.join(', ')}]; allowed: those of every position, [batch, length, vocabulary]`,
    );
  return { vocabSize: typeof dims[2] === 'number' ? dims[2] : configured, logitsType };
}
