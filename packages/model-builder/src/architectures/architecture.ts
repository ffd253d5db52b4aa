// What an architecture adds to config.json: the properties that its `model_type` determines. `read-decoder-config.ts` reads what
// all architectures have in common.

import type { Activation, DecoderConfig, LayerConfig, ModuleNames } from '../hugging-face/decoder-config.ts';
import type { ConfigKeys } from './config-keys.ts';
import type { RopeReader } from './read-rope.ts';

export interface Architecture {
  readonly modelType: string;
  /** Families and models by the names that people know, for docs/models.md. */
  readonly names: string;
  /** Values of keys that config.json leaves out. */
  readonly defaults?: Partial<ConfigKeys>;
  /** The same for values that follow from other keys; `json` has not been checked. */
  readonly defaultsFrom?: (json: Readonly<Record<string, unknown>>) => Partial<ConfigKeys>;
  /** Activations that may be named, the default first. Default: SiLU only. */
  readonly activations?: Readonly<Record<string, Activation>>;
  /** Key that names the activation. Default: `hidden_act`. */
  readonly activationKey?: 'hidden_act' | 'hidden_activation' | 'mlp_hidden_act';
  /** Heads of the cache, where keys do not say them; `read` checks what they are made of. */
  readonly cachedHeads?: (keys: ConfigKeys) => { readonly count: number; readonly size: number };
  /** Layers may have windows, which `layer_types` says. Default: false. */
  readonly readsLayerTypes?: boolean;
  /** Layers may have keys of their own, in `per_layer_config`. Default: false. */
  readonly readsLayerConfigs?: boolean;
  /** Throws: through `reader`. */
  read(keys: ConfigKeys, reader: ConfigReader): DecoderFeatures;
}

/** What differs from Llama. `layer` and `ropes` go together; without them all layers share one rotation and have no window. */
export type DecoderFeatures = Partial<
  Pick<
    DecoderConfig,
    | 'latent'
    | 'queryKeyNorm'
    | 'attentionScale'
    | 'attentionSoftcap'
    | 'queryScale'
    | 'normsValues'
    | 'hasLayerScale'
    | 'perLayerInput'
    | 'gatesAttention'
    | 'tiedEmbeddings'
    | 'qkvBias'
    | 'attentionOutputBias'
    | 'mlpBias'
    | 'hasSinks'
    | 'experts'
    | 'predictionLayerCount'
    | 'isParallel'
    | 'isGated'
    | 'embeddingScale'
    | 'residualScale'
    | 'matrixScales'
    | 'logitScale'
    | 'logitSoftcap'
    | 'norm'
  >
> &
  Partial<LayerPlan> & { readonly modules?: Partial<ModuleNames> };

/** Rotations, and which of them each layer has. */
export interface LayerPlan {
  readonly ropes: DecoderConfig['ropes'];
  /** What a layer does not say is as in the model. */
  layer(index: number): Partial<LayerConfig> & Pick<LayerConfig, 'rope' | 'window'>;
}

/** What an architecture reads further settings with. */
export interface ConfigReader {
  readonly rope: RopeReader;
  readonly headSize: number;
  /** Throws: `unsupported`. */
  refuse(key: string, message: string): never;
  /** Throws: `config_invalid`. */
  invalid(key: string, message: string): never;
}
