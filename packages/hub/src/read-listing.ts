// What a name would download, without downloading it: the chosen files with their sizes, and ranges of their bytes on demand.

import { open } from 'node:fs/promises';
import { RepositoryFolder } from './cache/layout.ts';
import { hasBlob, hasLink } from './cache/snapshot.ts';
import { checkTextSize } from './check-text-size.ts';
import { type ChosenFiles, chooseFiles } from './choose-files.ts';
import { countWholeBytes } from './download/partial-files.ts';
import { HubError } from './errors.ts';
import type { FetchModelOptions } from './fetch-options.ts';
import { formatBytes } from './format-bytes.ts';
import { readHubSettings } from './hub-settings.ts';
import { type ModelReference, parseModelReference } from './model-reference.ts';
import { withConnectionAdvice } from './protocol/connection-advice.ts';
import { HubClient } from './protocol/hub-client.ts';
import { fetchRepositoryInfo, type RepositoryFile } from './protocol/repository-info.ts';
import { retry } from './protocol/retry.ts';
import { TransportFailure } from './protocol/transport-failure.ts';
import { DEFAULT_TUNING } from './tuning.ts';

/** Of one range, which is held in memory. The longest header that is read, that of a GGUF file, may have as much. */
const MAX_READ_BYTES = 256 * 1024 * 1024;

export interface ListedFile {
  /** Relative to the repository, with slashes. */
  readonly path: string;
  readonly size: number;
  /** Bytes that the cache lacks: less than `size` after a download that was stopped. */
  readonly missingBytes: number;
}

export interface ModelListing {
  readonly reference: ModelReference;
  readonly commit: string;
  readonly kind: ChosenFiles['kind'];
  /** The weights file to open, or the folder of a graph; undefined where the whole repository is opened. */
  readonly entry: string | undefined;
  /** What `fetchModel` would have in the cache. */
  readonly files: readonly ListedFile[];
  /** Bytes `[begin, end)` of a file, from the cache or the Hub. Throws: `HubError`, the reason of the signal. */
  read(path: string, begin: number, end: number): Promise<Uint8Array>;
}

/** Asks the Hub, and writes nothing. Throws: `HubError`, or the reason of the signal. */
export async function readModelListing(
  model: string | ModelReference,
  options: FetchModelOptions = {},
): Promise<ModelListing> {
  const reference = typeof model === 'string' ? parseModelReference(model) : model;
  const { signal, onNotice } = options;
  const settings = await readHubSettings(options);
  const tuning = { ...DEFAULT_TUNING, ...options.tuning };
  const client = new HubClient(settings, tuning);
  const folder = new RepositoryFolder(settings.cacheDir, reference.repository);
  const { repository, quant } = reference;
  const retrying = { tuning, signal, onWait: onNotice };
  const { commit, files } = await retry(() => fetchRepositoryInfo(client, reference, signal), retrying).catch(
    (error: unknown) => {
      throw withConnectionAdvice(error);
    },
  );
  const byPath = new Map(files.map(file => [file.path, file]));

  const read = async (path: string, begin: number, end: number): Promise<Uint8Array> => {
    const file = byPath.get(path)!;
    if (end - begin > MAX_READ_BYTES) {
      const limit = `at most ${formatBytes(MAX_READ_BYTES)} of a file are read to describe a model`;
      throw new HubError(
        'reply_invalid',
        `${path} of ${repository} is listed with ${formatBytes(file.size)}; ${limit}.`,
      );
    }
    const cached = await cachedPath(folder, commit, file);
    if (cached !== undefined) return readRange(cached, begin, end);
    return retry(() => requestRange(client, { repository, commit, file, begin, end, signal }), retrying);
  };
  const readText = async (path: string) => {
    const file = byPath.get(path)!;
    checkTextSize(repository, file);
    return Buffer.from(await read(path, 0, file.size)).toString('utf8');
  };
  const chosen = await chooseFiles({
    repository,
    quant,
    paths: files.map(({ path }) => path),
    readText,
    chooseGraph: options.chooseGraph && (() => options.chooseGraph!({ files, readText })),
  });
  const listed: ListedFile[] = [];
  for (const path of [...chosen.companions, ...chosen.weights]) {
    const file = byPath.get(path)!;
    const isHere = (await cachedPath(folder, commit, file)) !== undefined;
    const partBytes = isHere
      ? file.size
      : await countWholeBytes(file, folder.blob(file.hash), tuning.chunkBytes);
    listed.push({ path, size: file.size, missingBytes: file.size - partBytes });
  }
  return { reference, commit, kind: chosen.kind, entry: chosen.entry, files: listed, read };
}

async function cachedPath(
  folder: RepositoryFolder,
  commit: string,
  file: RepositoryFile,
): Promise<string | undefined> {
  if (await hasBlob(folder, file)) return folder.blob(file.hash);
  return (await hasLink(folder, commit, file)) ? folder.link(commit, file.path) : undefined;
}

async function readRange(path: string, begin: number, end: number): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(end - begin), 0, end - begin, begin);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

interface RangeRequest {
  readonly repository: string;
  readonly commit: string;
  readonly file: RepositoryFile;
  readonly begin: number;
  readonly end: number;
  readonly signal: AbortSignal | undefined;
}

/** Throws: `TransportFailure`, `HubError`. */
async function requestRange(client: HubClient, wanted: RangeRequest): Promise<Uint8Array> {
  const { repository, commit, file, begin, end, signal } = wanted;
  if (end <= begin) return new Uint8Array(0);
  const request = {
    path: `/${repository}/resolve/${commit}/${file.path.split('/').map(encodeURIComponent).join('/')}`,
    subject: `${file.path} of ${repository}`,
    isFile: true,
    repository,
    revision: commit,
    headers: { range: `bytes=${begin}-${end - 1}` },
  };
  return client.get(request, signal, async ({ status, body }) => {
    if (status !== 206 && begin > 0) {
      const message = `${request.subject} is sent only as a whole; download it to see what is in it.`;
      throw new HubError('unsupported', message);
    }
    const bytes = new Uint8Array(end - begin);
    let length = 0;
    for await (const part of body) {
      const fitting = part.subarray(0, bytes.length - length);
      bytes.set(fitting, length);
      length += fitting.length;
      if (length === bytes.length) return bytes;
    }
    throw new TransportFailure(
      'connection',
      `${request.subject} ended after ${length} of ${bytes.length} bytes.`,
    );
  });
}
