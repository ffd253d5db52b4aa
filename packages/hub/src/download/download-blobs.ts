// Downloads blobs over a few connections: a queue of ranges of all files, in their order, so that files finish early. A file
// whose ranges are all there is checked against its hash and gets its name.

import type { RepositoryFolder } from '../cache/layout.ts';
import { HubError } from '../errors.ts';
import type { RepositoryFile } from '../protocol/repository-info.ts';
import { type FetchContext, fetchRange, fetchWhole } from './fetch-range.ts';
import { type ByteRange, PartialBlob } from './partial-blob.ts';
import { type DownloadProgress, ProgressMeter } from './progress-meter.ts';

export interface DownloadBlobsOptions extends Omit<FetchContext, 'meter'> {
  readonly folder: RepositoryFolder;
  readonly files: readonly RepositoryFile[];
  readonly onProgress: ((progress: DownloadProgress) => void) | undefined;
}

interface BlobState {
  readonly blob: PartialBlob;
  /** Ranges that wait or are being fetched. */
  openRangeCount: number;
  /** The server ignores ranges, so the file is fetched whole. */
  isWholeOnly: boolean;
  wrongHashCount: number;
}

interface Task {
  readonly state: BlobState;
  readonly range: ByteRange;
}

/** A hash may be wrong once because of the bytes that an earlier process left. */
const MAX_WRONG_HASHES = 1;

/** Mutates: the disk. Throws: `HubError`, file system errors, and the reason of `signal`; whole chunks are kept. */
export async function downloadBlobs(options: DownloadBlobsOptions): Promise<void> {
  const { folder, files, tuning, onProgress } = options;
  const states: BlobState[] = [];
  const failed = new AbortController();
  const signals = [failed.signal, ...(options.signal === undefined ? [] : [options.signal])];
  const signal = AbortSignal.any(signals);
  const queue: Task[] = [];
  const enqueue = (state: BlobState) => {
    const ranges = state.blob.missingRanges(tuning.rangeBytes);
    state.openRangeCount = ranges.length;
    for (const range of ranges) queue.push({ state, range });
  };
  try {
    for (const file of files) {
      const blob = await PartialBlob.open(file, folder.blob(file.hash), tuning.chunkBytes);
      states.push({ blob, openRangeCount: 0, isWholeOnly: false, wrongHashCount: 0 });
    }
    const meter = new ProgressMeter({
      totalBytes: files.reduce((sum, { size }) => sum + size, 0),
      countDone: () => states.reduce((sum, { blob }) => sum + blob.presentBytes, 0),
      intervalMs: tuning.progressMs,
      now: () => performance.now(),
      report: progress => onProgress?.(progress),
    });
    const context: FetchContext = { ...options, signal, meter };
    const finish = async (state: BlobState) => {
      if ((await finishBlob(state, context)) === 'wrong-hash') enqueue(state);
    };
    for (const state of states) enqueue(state);
    // A process that was killed between the last byte and the name left nothing to fetch.
    for (const state of states) if (state.blob.isWhole) await finish(state);
    const work = async () => {
      for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
        await fetchTask(task, context);
        task.state.openRangeCount--;
        if (task.state.openRangeCount === 0) await finish(task.state);
      }
    };
    const workers = Array.from({ length: tuning.connectionCount }, () =>
      work().catch(error => failed.abort(error)),
    );
    await Promise.all(workers);
    signal.throwIfAborted();
    meter.end();
  } finally {
    for (const { blob } of states) await blob.close();
  }
}

async function fetchTask({ state, range }: Task, context: FetchContext): Promise<void> {
  if (state.isWholeOnly) return;
  if ((await fetchRange(state.blob, range, context)) === 'ranges-ignored') state.isWholeOnly = true;
}

/** Checks a file whose ranges have been fetched, and gives it its name; a wrong one is forgotten. Throws: `hash_mismatch`. */
async function finishBlob(state: BlobState, context: FetchContext): Promise<'published' | 'wrong-hash'> {
  const { blob } = state;
  const { meter, signal, repository } = context;
  if (!blob.isWhole) await fetchWhole(blob, context);
  const hash = await blob.computeHash(() => meter.check(), signal);
  if (hash === blob.file.hash) {
    await blob.publish();
    return 'published';
  }
  await blob.reset();
  state.wrongHashCount++;
  if (state.wrongHashCount <= MAX_WRONG_HASHES) return 'wrong-hash';
  throw new HubError(
    'hash_mismatch',
    `${blob.file.path} of ${repository} has the hash ${hash}, and the Hub announces ${blob.file.hash}. It was downloaded ${state.wrongHashCount} times; a proxy may change it.`,
  );
}
