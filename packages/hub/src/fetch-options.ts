// Options, result and working parts of a download. Callers: `fetch-model.ts`, `download-snapshot.ts`.

import type { RepositoryFolder } from './cache/layout.ts';
import type { ChosenFiles, GraphChoice } from './choose-files.ts';
import type { DownloadPlan } from './download/check-space.ts';
import type { DownloadProgress } from './download/progress-meter.ts';
import type { HubOptions, HubSettings } from './hub-settings.ts';
import type { ModelReference } from './model-reference.ts';
import type { HubClient } from './protocol/hub-client.ts';
import type { Tuning } from './tuning.ts';

export interface FetchModelOptions extends HubOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called a few times a second while files are downloaded and checked. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  /** Called once before the first byte of weights, unless there is none to download. */
  readonly onPlan?: ((plan: DownloadPlan) => void) | undefined;
  /** Something that a person wants to know: a wait, or the use of the cache because the Hub cannot be reached. */
  readonly onNotice?: ((message: string) => void) | undefined;
  /**
   * Chooses the graph of a repository that has ONNX graphs only; undefined for none that it knows. Without it such repositories are
   * refused. A caller that knows graphs gives it: `chooseExportFiles` of @ortler/model-builder.
   */
  readonly chooseGraph?: ((files: GraphFiles) => Promise<GraphChoice | undefined>) | undefined;
  readonly tuning?: Partial<Tuning> | undefined;
}

/** The files of a repository, or of its snapshot in the cache. */
export interface GraphFiles {
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** Text of a small file. */
  readText(path: string): Promise<string>;
}

export interface FetchedModel {
  readonly kind: ChosenFiles['kind'];
  /** The folder of the snapshot, or for GGUF the file or its first shard. */
  readonly path: string;
  readonly commit: string;
}

/** One call of `fetchModel`. */
export interface Fetch {
  readonly reference: ModelReference;
  readonly settings: HubSettings;
  readonly folder: RepositoryFolder;
  readonly client: HubClient;
  readonly tuning: Tuning;
  readonly options: FetchModelOptions;
}
