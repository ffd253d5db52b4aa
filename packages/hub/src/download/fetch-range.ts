// Requests for the bytes of a file, repeated until all have arrived in its partial blob.

import { HubError } from '../errors.ts';
import type { HubClient, HubReply } from '../protocol/hub-client.ts';
import { type RetryOptions, retry } from '../protocol/retry.ts';
import { TransportFailure } from '../protocol/transport-failure.ts';
import type { ByteRange, PartialBlob } from './partial-blob.ts';
import type { ProgressMeter } from './progress-meter.ts';

export interface FetchContext extends Pick<RetryOptions, 'tuning' | 'signal' | 'onWait'> {
  readonly client: HubClient;
  readonly repository: string;
  readonly commit: string;
  readonly meter: ProgressMeter;
}

/** `ranges-ignored`: the server sends whole files only. */
export type RangeOutcome = 'fetched' | 'ranges-ignored';

/** Fetches a range of missing chunks. Throws: as `retry`. */
export async function fetchRange(
  blob: PartialBlob,
  { start, end }: ByteRange,
  context: FetchContext,
): Promise<RangeOutcome> {
  const { size, path } = blob.file;
  let position = start;
  const attempt = async (): Promise<RangeOutcome> => {
    // The connection may fail after the last byte.
    if (position === end && size > 0) return 'fetched';
    const wanted = { start: position, end };
    const isPart = position > 0 || end < size;
    return requestFile(blob, isPart ? wanted : undefined, context, async ({ status, headers, body }) => {
      if (isPart && status !== 206) return 'ranges-ignored';
      if (isPart) checkRange(headers, wanted, blob, context.repository);
      for await (const bytes of body) {
        // Bytes beyond the range belong to another request.
        const part = bytes.subarray(0, end - position);
        await blob.write(position, part);
        position += part.length;
        context.meter.add(part.length);
        if (part.length < bytes.length) break;
      }
      if (position < end) throw endedEarly(path, position, end);
      if (size === 0) await blob.writeNothing();
      return 'fetched';
    });
  };
  return retry(attempt, { ...context, progress: () => position });
}

/** Fetches a file from its beginning to its end, for servers that ignore ranges. Throws: as `retry`. */
export async function fetchWhole(blob: PartialBlob, context: FetchContext): Promise<void> {
  const { size, path } = blob.file;
  const attempt = () =>
    requestFile(blob, undefined, context, async ({ body }) => {
      let position = 0;
      for await (const bytes of body) {
        const part = bytes.subarray(0, size - position);
        await blob.write(position, part);
        position += part.length;
        context.meter.add(part.length);
        if (part.length < bytes.length) break;
      }
      if (position < size) throw endedEarly(path, position, size);
    });
  // Each attempt begins again, so only whole chunks are progress.
  await retry(attempt, { ...context, progress: () => blob.wholeBytes });
}

function requestFile<T>(
  { file }: PartialBlob,
  range: ByteRange | undefined,
  { client, repository, commit, signal }: FetchContext,
  read: (reply: HubReply) => Promise<T>,
): Promise<T> {
  const path = file.path.split('/').map(encodeURIComponent).join('/');
  const request = {
    path: `/${repository}/resolve/${commit}/${path}`,
    subject: `${file.path} of ${repository}`,
    isFile: true,
    repository,
    revision: commit,
    headers: range === undefined ? {} : { range: `bytes=${range.start}-${range.end - 1}` },
  };
  return client.get(request, signal, reply => {
    checkEtag(reply, file.hash, request.subject);
    return read(reply);
  });
}

/** The Hub names the content that it sends. Other servers of its protocol may send no name; the hash decides in the end. */
function checkEtag({ hubHeaders }: HubReply, hash: string, subject: string): void {
  const tag = hubHeaders.get('x-linked-etag') ?? hubHeaders.get('etag');
  const name = tag?.replace(/^W\//, '').replaceAll('"', '').toLowerCase();
  const isContentName = name !== undefined && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(name);
  if (!isContentName || name.length !== hash.length || name === hash) return;
  throw new HubError(
    'reply_invalid',
    `${subject} has changed since its repository was listed: its hash is ${name} and was ${hash}.`,
  );
}

function checkRange(
  headers: Headers,
  { start, end }: ByteRange,
  { file }: PartialBlob,
  repository: string,
): void {
  const range = headers.get('content-range') ?? '';
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(range) ?? [];
  const isSame = Number(first) === start && Number(last) < end;
  if (isSame && (total === '*' || Number(total) === file.size)) return;
  throw new HubError(
    'reply_invalid',
    `The reply for bytes ${start}-${end - 1} of ${file.path} of ${repository} (${file.size} bytes) holds "${range}".`,
  );
}

function endedEarly(path: string, position: number, end: number): TransportFailure {
  return new TransportFailure('connection', `${path} ended after ${position} of ${end} bytes.`);
}
