// Facts and files of an exported folder that its graph does not contain. Each layout reads them from files of its own:
// `optimum-settings.ts`, `genai-settings.ts`.

/** Program whose layout a folder has. */
export type ExportLayout = 'optimum' | 'genai';

/** For messages. */
export const LAYOUT_NAMES: Readonly<Record<ExportLayout, string>> = {
  optimum: 'Optimum and transformers.js',
  genai: 'onnxruntime-genai',
};

/** Facts that the graph may not contain. */
export interface ExportConfig {
  readonly modelType: string;
  readonly hiddenSize: number;
  readonly vocabSize: number;
  readonly contextLength: number;
}

/** Sizes that a settings file repeats from the graph, by the key of the file. */
export interface RepeatedSizes {
  readonly layerCount: number;
  readonly headCount: number;
  readonly kvHeadCount: number;
  readonly headSize: number;
}

export interface ExportSettings {
  /** File that was read. */
  readonly configFile: string;
  readonly config: ExportConfig;
  /** Undefined where the layout does not repeat them. */
  readonly repeated: RepeatedSizes | undefined;
  /** Tokens of the sliding window that the settings name; undefined where they name none. */
  readonly windowSize: number | undefined;
  /** Files of the folder that affect the model, beside graph and weights. */
  readonly sources: readonly string[];
  /** The files among `sources` that are copied to the model folder. */
  readonly copied: readonly string[];
  /** Files of the model folder that are written instead of copied: content by name. */
  readonly written: ReadonlyMap<string, string>;
  /** What to use on the CPU instead of a graph in float16, for messages. */
  readonly cpuChoice: string;
}
