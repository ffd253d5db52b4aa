// Reads the rotations of config.json. Versions of transformers have the settings in different places: beside each other in the
// outermost object, in `rope_scaling`, in `rope_parameters`, and there for each type of layer.

import type { ConfigFault } from '../hugging-face/config-file.ts';
import {
  type ContextLengths,
  parseRopeSettings,
  type RopeConfig,
  type RopeScaling,
} from '../hugging-face/rope.ts';
import type { ConfigKeys } from './config-keys.ts';

/** Published default of `rope_theta` in transformers. */
const DEFAULT_ROPE_THETA = 10_000;

export interface RopeOptions {
  /** Without `rope_theta`. Default: 10,000. */
  readonly defaultTheta?: number;
  /** Without `partial_rotary_factor`, for model types that may rotate a part of a head. Others must rotate all of it. */
  readonly defaultPartialFactor?: number;
  readonly isInterleaved?: boolean;
  /** Head size of the layers that have this rotation. Default: that of the model. */
  readonly headSize?: number;
  /** Reads the settings of one type of layer, where `rope_parameters` has some for each. */
  readonly layerType?: string;
  /** Key of the outermost object with the base. Default: `rope_theta`. */
  readonly thetaKey?: 'rope_theta' | 'rope_local_base_freq';
  /** Whether `rope_scaling` is for these layers. Default: true. */
  readonly isScaled?: boolean;
  /** The type "dynamic" with a key `alpha` stretches the base, for all lengths alike. Default: false. */
  readonly isStretched?: boolean;
}

/** Throws: `config_invalid`, `unsupported`. */
export type RopeReader = (options?: RopeOptions) => RopeConfig;

export function ropeReader(fault: ConfigFault, keys: ConfigKeys, modelHeadSize: number): RopeReader {
  return (options = {}) => {
    const { thetaKey = 'rope_theta', isScaled = true, isInterleaved = false } = options;
    const { headSize = modelHeadSize } = options;
    const [parametersPath, settings] = parametersOf(fault, keys, options.layerType);
    const alpha = options.isStretched ? (stretch(settings) ?? stretch(keys.rope_scaling)) : undefined;
    const block = (place: string, value: unknown) =>
      readBlock(fault, place, alpha === undefined ? value : withoutStretch(value), {
        maximum: keys.max_position_embeddings,
        original: keys.original_max_position_embeddings ?? undefined,
      });
    const parameters = block(parametersPath, settings);
    if (isScaled && options.layerType !== undefined) refuseOlderType(fault, keys);
    const scaling = isScaled ? block('rope_scaling', keys.rope_scaling) : undefined;
    if (scaling && parameters && JSON.stringify(scaling.scaling) !== JSON.stringify(parameters.scaling)) {
      throw fault('config_invalid', parametersPath, 'says something else than rope_scaling');
    }
    const agreed = (places: Readonly<Record<string, number | null | undefined>>, fallback: number) =>
      agreedValue(fault, places, fallback);
    const theta = agreed(
      {
        [`${parametersPath}.rope_theta`]: parameters?.theta,
        'rope_scaling.rope_theta': scaling?.theta,
        [thetaKey]: keys[thetaKey],
      },
      options.defaultTheta ?? DEFAULT_ROPE_THETA,
    );
    const partialFactors = {
      [`${parametersPath}.partial_rotary_factor`]: parameters?.partialFactor,
      'rope_scaling.partial_rotary_factor': scaling?.partialFactor,
      partial_rotary_factor: keys.partial_rotary_factor,
    };
    const found = (parameters ?? scaling)?.scaling ?? { kind: 'none' as const };
    if (options.layerType !== undefined)
      refuseUnroundedBorders(fault, keys, parameters ? parametersPath : 'rope_scaling', found);
    const isProportional = found.kind === 'proportional';
    if (options.defaultPartialFactor === undefined && !isProportional) refuseParts(fault, partialFactors);
    // For transformers that is a whole head, not the default of the model type.
    if (keys.partial_rotary_factor === null && (options.defaultPartialFactor ?? 1) !== 1)
      throw fault('unsupported', 'partial_rotary_factor', 'is null; it must be absent or a number');
    const partialFactor = agreed(partialFactors, options.defaultPartialFactor ?? 1);
    checkOriginalLength(fault, keys, found);
    const rotatedPairs = Math.trunc((partialFactor * headSize) / 2);
    const size = isProportional ? headSize : rotatedSize(fault, headSize, partialFactor);
    checkFactors(fault, found, size);
    return {
      theta: theta * (alpha ?? 1) ** (headSize / (headSize - 2)),
      size,
      isInterleaved,
      scaling: isProportional ? { ...found, rotatedPairs } : found,
    };
  };
}

/** The stretch of the base. */
function stretch(settings: unknown): number | undefined {
  if (!isDynamic(settings)) return undefined;
  return typeof settings.alpha === 'number' && settings.alpha > 0 ? settings.alpha : undefined;
}

function withoutStretch(settings: unknown): unknown {
  return isDynamic(settings) ? { ...settings, rope_type: 'default' } : settings;
}

function isDynamic(settings: unknown): settings is Readonly<Record<string, unknown>> {
  if (typeof settings !== 'object' || settings === null) return false;
  const { rope_type: type, type: olderType } = settings as Readonly<Record<string, unknown>>;
  return (type ?? olderType) === 'dynamic';
}

/** The place and value of the settings in `rope_parameters`. Throws: `unsupported`. */
function parametersOf(
  fault: ConfigFault,
  { rope_parameters: parameters }: ConfigKeys,
  layerType: string | undefined,
): readonly [place: string, settings: unknown] {
  const key = 'rope_parameters';
  if (layerType === undefined || Object.keys(parameters ?? {}).length === 0) return [key, parameters];
  const isNested = Object.values(parameters!).some(value => typeof value === 'object' && value !== null);
  if (isNested) return [`${key}.${layerType}`, parameters![layerType]];
  throw fault('unsupported', key, 'must have an object for each type of layer');
}

/** Throws: `unsupported` for a type that transformers does not see where it has settings for each type of layer. */
function refuseOlderType(fault: ConfigFault, { rope_scaling: scaling }: ConfigKeys): void {
  if (scaling?.rope_type === undefined && (scaling?.type ?? 'default') !== 'default')
    throw fault(
      'unsupported',
      'rope_scaling.type',
      'must be named rope_type: for this model type it has no effect',
    );
}

/**
 * Throws: `unsupported` for a setting of YaRN that transformers reads beside the objects for each type of layer, and vLLM in them.
 */
function refuseUnroundedBorders(
  fault: ConfigFault,
  { rope_parameters: outer }: ConfigKeys,
  place: string,
  scaling: RopeScaling,
): void {
  if (scaling.kind !== 'yarn') return;
  const message = 'must be absent or true for this model type';
  if (outer?.truncate === false) throw fault('unsupported', 'rope_parameters.truncate', message);
  if (!scaling.roundsBorders) throw fault('unsupported', `${place}.truncate`, message);
}

/** Throws: `unsupported` for anything but whole heads. */
function refuseParts(fault: ConfigFault, places: Readonly<Record<string, number | null | undefined>>): void {
  const found = Object.entries(places).find(([, factor]) => (factor ?? 1) !== 1);
  if (found !== undefined) throw fault('unsupported', found[0], 'must be absent or 1');
}

/** Throws: `unsupported` for parts of a head that the operators cannot rotate. */
function rotatedSize(fault: ConfigFault, headSize: number, partialFactor: number): number {
  const size = Math.trunc(headSize * partialFactor);
  // GroupQueryAttention and PagedAttention take rotary tables of multiples of 8 columns.
  if (size > 0 && size % 16 === 0) return size;
  const message = `is ${partialFactor}, which rotates ${size} of ${headSize} elements of a head; allowed: multiples of 16`;
  throw fault('unsupported', 'partial_rotary_factor', message);
}

/** Throws: `config_invalid` where places that are present do not agree. */
function agreedValue(
  fault: ConfigFault,
  places: Readonly<Record<string, number | null | undefined>>,
  fallback: number,
): number {
  const present = Object.entries(places).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  const [first, ...others] = present;
  if (first === undefined) return fallback;
  const other = others.find(([, value]) => value !== first[1]);
  if (other === undefined) return first[1];
  const message = `is ${first[1]}, but ${other[0]} is ${other[1]}; they must agree`;
  throw fault('config_invalid', first[0], message);
}

/** Newer versions of transformers read the key beside the block, older ones the key in it, so both must agree. */
function checkOriginalLength(fault: ConfigFault, keys: ConfigKeys, scaling: RopeScaling): void {
  if (scaling.kind !== 'llama3' && scaling.kind !== 'yarn' && scaling.kind !== 'longrope') return;
  const beside = keys.original_max_position_embeddings ?? scaling.originalContextLength;
  if (beside === scaling.originalContextLength) return;
  const key = 'original_max_position_embeddings';
  const message = `is ${beside}, but the rotary scaling says ${scaling.originalContextLength}; they must agree`;
  throw fault('config_invalid', key, message);
}

/** Throws: `config_invalid` for another number of factors than frequencies. */
function checkFactors(fault: ConfigFault, scaling: RopeScaling, size: number): void {
  if (scaling.kind !== 'longrope') return;
  const { shortFactors: short_factor, longFactors: long_factor } = scaling;
  for (const [key, factors] of Object.entries({ short_factor, long_factor })) {
    if (factors.length === size / 2) continue;
    const message = `has ${factors.length} factors for ${size / 2} frequencies`;
    throw fault('config_invalid', `rope_scaling.${key}`, message);
  }
}

function readBlock(fault: ConfigFault, key: string, value: unknown, lengths: ContextLengths) {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== 'object') throw fault('config_invalid', key, 'must be an object');
  const result = parseRopeSettings(value as Record<string, unknown>, lengths);
  if (result.kind === 'valid') return result;
  const code = result.kind === 'invalid' ? 'config_invalid' : 'unsupported';
  throw fault(code, `${key}.${result.path}`, result.fault);
}
