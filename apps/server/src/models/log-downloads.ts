// Downloads of models in the log: a line at every tenth.

import type { Logger } from 'pino';
import type { CatalogEvent } from './model-catalog.ts';

const STEP_PERCENT = 10;

/** Logs the events that belong to downloads, at level info. */
export function createDownloadLog(logger: Logger): (event: CatalogEvent) => void {
  const last = new Map<string, number>();
  return event => {
    const { modelId } = event;
    if (event.kind === 'notice') logger.info({ model: modelId }, event.message);
    if (event.kind !== 'preparing' || event.progress.stage !== 'download') return;
    const { doneBytes, totalBytes } = event.progress;
    const percent = totalBytes === 0 ? 0 : Math.floor((doneBytes / totalBytes) * 100);
    const step = percent - (percent % STEP_PERCENT);
    if (last.get(modelId) === step) return;
    last.set(modelId, step);
    logger.info({ model: modelId, doneBytes, totalBytes }, `downloading, ${step} %`);
  };
}
