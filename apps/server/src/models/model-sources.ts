// Paths of the configured models: those given by a name are fetched, once per start of the server, so that a model and the
// adapters that are merged into it later have the same commit.

import {
  type DownloadProgress,
  type FetchModelOptions,
  formatBytes,
  type HubOptions,
  resolveModel,
} from '@ortler/hub';

export interface SourceEvents {
  readonly onProgress: (progress: DownloadProgress) => void;
  /** For people: the size of a download, waits, the use of the cache. */
  readonly onNotice: (message: string) => void;
}

export interface ModelSources {
  /** Absolute path of a source. Throws: `HubError`, or the reason of `signal`. */
  resolve(source: string, events: SourceEvents, signal?: AbortSignal): Promise<string>;
}

/** `chooseGraph`: of repositories that have ONNX graphs only. */
export function createModelSources(
  hub: HubOptions,
  chooseGraph: FetchModelOptions['chooseGraph'],
): ModelSources {
  const paths = new Map<string, string>();
  return {
    async resolve(source, { onProgress, onNotice }, signal) {
      const known = paths.get(source);
      if (known !== undefined) return known;
      const path = await resolveModel(source, {
        ...hub,
        chooseGraph,
        signal,
        onProgress,
        onNotice,
        onPlan: ({ missingBytes, totalBytes, freeDiskBytes, memoryBytes }) => {
          onNotice(
            `${formatBytes(missingBytes)} to download; ${formatBytes(freeDiskBytes)} of disk and ${formatBytes(memoryBytes)} of memory in this machine.`,
          );
          if (totalBytes > memoryBytes)
            onNotice(`Its files (${formatBytes(totalBytes)}) are larger than the memory; q4 or q8 may fit.`);
        },
      });
      paths.set(source, path);
      return path;
    },
  };
}
