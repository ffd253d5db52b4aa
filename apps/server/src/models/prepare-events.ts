// Progress of a model before it is loaded: its download and its build. Callers: `model-catalog.ts`, `../commands`.

import { type DownloadProgress, formatBytes } from '@ortler/hub';
import type { AutoPrecision, BuildProgress } from '@ortler/model-builder';

export type PrepareProgress = DownloadProgress | BuildProgress;

export interface PrepareEvents {
  readonly onProgress: (progress: PrepareProgress) => void;
  readonly onPrecision: (choice: AutoPrecision) => void;
  readonly onNotice: (message: string) => void;
}

/** For /health, such as "downloading, 42% of 1.5 GB". */
export function describeProgress({ stage, doneBytes, totalBytes }: PrepareProgress): string {
  const percent = totalBytes === 0 ? 0 : Math.floor((doneBytes / totalBytes) * 100);
  if (stage === 'download') return `downloading, ${percent}% of ${formatBytes(totalBytes)}`;
  if (stage === 'check') return 'checking the download';
  return stage === 'hash' ? `reading the checkpoint, ${percent}%` : `building, ${percent}%`;
}
