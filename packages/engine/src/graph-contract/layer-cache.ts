// What each layer of a model keeps of a sequence: keys and values, or states.

/** The cache of a layer. */
export interface LayerCache {
  readonly kvHeadCount: number;
  readonly headSize: number;
  /**
   * Tokens that the layer attends to, itself included, in a `kernels` graph: its cache may be a ring of `windowCapacity`. Absent: all
   * tokens. Unit: tokens.
   */
  readonly window?: number | undefined;
  /** Layer whose cache this one of a `kernels` graph attends to: it has no inputs and outputs for a cache of its own. */
  readonly kvSource?: number | undefined;
  /**
   * Only for a recurrent layer of a `kernels` graph: the shapes of its states, in float32, in place of keys and values. It has no
   * inputs and outputs for a cache. Empty: the layer keeps nothing.
   */
  readonly states?: readonly (readonly number[])[] | undefined;
  /** The layer has keys and values besides its states. Default: false. */
  readonly hasKeys?: boolean | undefined;
  /** The keys of this layer of a `kernels` graph are its values too, so it has no cache of values. Default: false. */
  readonly keysOnly?: boolean | undefined;
}

/** Whether the layer has a cache of its own. */
export function ownsCache({ kvSource, states, hasKeys = false }: LayerCache): boolean {
  return kvSource === undefined && (states === undefined || hasKeys);
}

export type KvPart = 'key' | 'value';

export const KV_PARTS: readonly KvPart[] = ['key', 'value'];

/** The caches of a layer that owns some. */
export function cacheParts({ keysOnly = false }: Pick<LayerCache, 'keysOnly'>): readonly KvPart[] {
  return keysOnly ? ['key'] : KV_PARTS;
}

/** Bytes of the states of one sequence; 0 for a model without recurrent layers. */
export function stateBytes(layers: readonly LayerCache[]): number {
  const shapes = layers.flatMap(({ states = [] }) => states);
  return shapes.reduce((sum, shape) => sum + 4 * shape.reduce((product, dim) => product * dim, 1), 0);
}

/** The longest window, which the rings of all layers with one are made for; undefined without windows. */
export function longestWindow(layers: readonly LayerCache[]): number | undefined {
  const windows = layers.flatMap(({ window, kvSource }) => (kvSource === undefined ? (window ?? []) : []));
  return windows.length === 0 ? undefined : Math.max(...windows);
}
