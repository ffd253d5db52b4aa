// Reads and checks `ortler-model.json`. The rest of the token side relies on its numbers.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../../errors.ts';
import {
  EXPORT_PRECISIONS,
  type ExpertFacts,
  GRAPH_FORMAT_VERSION,
  type GraphVariant,
  type InputConvention,
  type LayerCache,
  MANIFEST_FILE,
  type ModelManifest,
  VARIANT_KV_TYPES,
  VARIANT_PRECISIONS,
} from '../../graph-contract/index.ts';

const COUNT_FIELDS = [
  'layerCount',
  'headCount',
  'kvHeadCount',
  'headSize',
  'hiddenSize',
  'vocabSize',
  'contextLength',
  'parameterCount',
] as const satisfies readonly (keyof ModelManifest)[];

const TEXT_FIELDS = [
  'modelType',
  'graphFile',
  'contentHash',
] as const satisfies readonly (keyof ModelManifest)[];

/** Manifests that this version of the engine can run. */
const CHOICE_FIELDS = {
  formatVersion: [GRAPH_FORMAT_VERSION],
  variant: ['kernels', 'slots', 'paged', 'device-slots'],
} as const satisfies Partial<Record<keyof ModelManifest, readonly unknown[]>>;

const CONVENTIONS: readonly unknown[] = ['lengths', 'mask'] satisfies readonly InputConvention[];

const FLOAT_TYPES: readonly unknown[] = ['float32', 'float16'] satisfies readonly ModelManifest['kvType'][];

/** Throws: `model_invalid` naming the file, the field and what was expected. */
export async function readManifest(modelDir: string): Promise<ModelManifest> {
  const file = join(modelDir, MANIFEST_FILE);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    const message = /\.gguf$/i.test(modelDir)
      ? `${modelDir} is a GGUF file, which "ortler build" and loadModel make a model folder of.`
      : `${file} cannot be read. A model folder is made by "ortler build".`;
    throw new EngineError('model_invalid', message, { cause });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new EngineError('model_invalid', `${file} is not JSON: ${String(cause)}`, { cause });
  }
  checkManifest(file, value);
  return value;
}

function checkManifest(file: string, value: unknown): asserts value is ModelManifest {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new EngineError('model_invalid', `${file} must hold an object.`);
  const fields = value as Readonly<Record<string, unknown>>;
  const refuse = (name: string, expected: string): never => {
    const got = JSON.stringify(fields[name]) ?? 'nothing';
    throw new EngineError('model_invalid', `${file}: ${name} must be ${expected}; got ${got}.`);
  };
  for (const [name, allowed] of Object.entries(CHOICE_FIELDS)) {
    const choices: readonly unknown[] = allowed;
    if (!choices.includes(fields[name])) refuse(name, allowed.join(' or '));
  }
  const { inputConvention } = fields;
  if (inputConvention !== undefined && !CONVENTIONS.includes(inputConvention))
    refuse('inputConvention', `${CONVENTIONS.join(' or ')}, or absent`);
  const variant = fields.variant as GraphVariant;
  const isExport = variant === 'slots' && inputConvention === 'mask';
  const where = isExport ? 'in an export' : `with variant ${variant}`;
  const precisions: readonly unknown[] = isExport ? EXPORT_PRECISIONS : VARIANT_PRECISIONS[variant];
  if (!precisions.includes(fields.precision)) refuse('precision', `${precisions.join(' or ')} ${where}`);
  const kvTypes: readonly unknown[] = isExport ? FLOAT_TYPES : VARIANT_KV_TYPES[variant];
  if (!kvTypes.includes(fields.kvType)) refuse('kvType', `${kvTypes.join(' or ')} ${where}`);
  const { logitsType = 'float32' } = fields;
  if (logitsType !== 'float32' && !(isExport && FLOAT_TYPES.includes(logitsType)))
    refuse('logitsType', isExport ? FLOAT_TYPES.join(' or ') : 'float32, or absent');
  for (const name of COUNT_FIELDS) {
    const count = fields[name];
    if (!Number.isSafeInteger(count) || (count as number) < 1) refuse(name, 'a whole number above 0');
  }
  for (const name of TEXT_FIELDS) {
    const entry = fields[name];
    if (typeof entry !== 'string' || entry === '') refuse(name, 'a text that is not empty');
  }
  const { cudaGraphFile } = fields;
  if (cudaGraphFile !== undefined && (typeof cudaGraphFile !== 'string' || cudaGraphFile === ''))
    refuse('cudaGraphFile', 'a text that is not empty, or absent');
  if (cudaGraphFile !== undefined && variant !== 'paged') refuse('cudaGraphFile', `absent ${where}`);
  const { layerCaches, layerCount } = fields;
  if (layerCaches !== undefined && !isLayerCaches(layerCaches, layerCount))
    refuse(
      'layerCaches',
      `${String(layerCount)} objects with kvHeadCount, headSize and, if any, window, states, hasKeys and kvSource, an earlier layer with a cache; or absent`,
    );
  if (fields.experts !== undefined && !isExpertFacts(fields.experts))
    refuse('experts', 'an object with count, chosen, weightBytes and activeParameterCount; or absent');
  if ((fields.headCount as number) % (fields.kvHeadCount as number) !== 0)
    refuse('headCount', `a multiple of kvHeadCount (${String(fields.kvHeadCount)})`);
}

function isExpertFacts(value: unknown): boolean {
  const { count, chosen, weightBytes, activeParameterCount } = (value ?? {}) as Partial<ExpertFacts>;
  return [count, chosen, weightBytes, activeParameterCount].every(
    number => Number.isSafeInteger(number) && number! > 0,
  );
}

function isLayerCaches(value: unknown, layerCount: unknown): boolean {
  return Array.isArray(value) && value.length === layerCount && value.every(isLayerCache);
}

function isLayerCache(value: unknown, index: number, all: readonly unknown[]): boolean {
  const { kvHeadCount, headSize, window, kvSource, states, hasKeys } = (value ?? {}) as Partial<LayerCache>;
  const isCount = (count: unknown) => Number.isSafeInteger(count) && (count as number) > 0;
  if (!isCount(kvHeadCount) || !isCount(headSize)) return false;
  if (window !== undefined && !isCount(window)) return false;
  if (states !== undefined && !(Array.isArray(states) && states.every(isShape))) return false;
  if (hasKeys !== undefined && typeof hasKeys !== 'boolean') return false;
  if (kvSource === undefined) return true;
  const source = all.slice(0, index)[kvSource] as LayerCache | undefined;
  return source !== undefined && source.kvSource === undefined;
}

function isShape(shape: unknown): boolean {
  return Array.isArray(shape) && shape.every(dim => Number.isSafeInteger(dim) && dim > 0);
}
