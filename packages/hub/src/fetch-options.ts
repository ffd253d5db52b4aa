// Options, result and working parts of a download. Callers: `fetch-model.ts`, `download-snapshot.ts`.

import type { RepositoryFolder } from './cache/layout.ts';
import type { ChosenFiles } from './choose-files.ts';
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
  readonly tuning?: Partial<Tuning> | undefined;
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
