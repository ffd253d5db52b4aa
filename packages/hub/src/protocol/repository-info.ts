// The listing of a repository: its commit, and path, size and hash of every file.

import { HubError } from '../errors.ts';
import type { ModelReference } from '../model-reference.ts';
import type { HubClient, HubRequest } from './hub-client.ts';

/** LFS files are named after the SHA-256 of their content, others after git's SHA-1 of a blob. */
export type HashKind = 'sha256' | 'git-sha1';

export interface RepositoryFile {
  /** Relative to the repository, with slashes. */
  readonly path: string;
  readonly size: number;
  readonly hash: string;
  readonly hashKind: HashKind;
}

export interface RepositoryInfo {
  readonly commit: string;
  readonly files: readonly RepositoryFile[];
}

/** The longest listing that is read. The largest repositories of the Hub stay below a tenth of it. */
const MAX_LISTING_BYTES = 64 * 1024 * 1024;

/** Throws: as `HubClient.get`, `reply_invalid`. */
export async function fetchRepositoryInfo(
  client: HubClient,
  { repository, revision }: ModelReference,
  signal: AbortSignal | undefined,
): Promise<RepositoryInfo> {
  const request: HubRequest = {
    path: `/api/models/${repository}/revision/${encodeURIComponent(revision)}?blobs=true`,
    subject: `the list of files of ${repository}`,
    isFile: false,
    repository,
    revision,
    headers: { accept: 'application/json' },
  };
  const text = await client.get(request, signal, async ({ body }) => {
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const bytes of body) {
      parts.push(bytes);
      length += bytes.length;
      if (length > MAX_LISTING_BYTES) throw invalid(repository, 'is longer than 64 MiB');
    }
    return Buffer.concat(parts).toString('utf8');
  });
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw invalid(repository, 'is not JSON', cause);
  }
  const info = parseRepositoryInfo(repository, parsed);
  // A mirror that ignores revisions would serve another model than the one that was pinned.
  if (isHex(revision, 40) && info.commit !== revision)
    throw invalid(repository, `is of the commit ${info.commit}, and ${revision} was asked for`);
  return info;
}

/** Checks the fields that are used. Throws: `reply_invalid`. */
export function parseRepositoryInfo(repository: string, value: unknown): RepositoryInfo {
  const { sha, siblings } = fieldsOf(value);
  if (!isHex(sha, 40)) throw invalid(repository, 'has no commit');
  if (!Array.isArray(siblings)) throw invalid(repository, 'has no files');
  return { commit: sha, files: siblings.map(sibling => parseFile(repository, sibling)) };
}

function parseFile(repository: string, value: unknown): RepositoryFile {
  const { rfilename: path, size, blobId, lfs } = fieldsOf(value);
  if (typeof path !== 'string' || !isSafePath(path))
    throw invalid(repository, `has a file with the path ${JSON.stringify(path)}`);
  const { sha256, size: lfsSize } = fieldsOf(lfs);
  const bytes = lfsSize ?? size;
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0)
    throw invalid(repository, `has no size for ${path}`);
  if (isHex(sha256, 64)) return { path, size: bytes, hash: sha256, hashKind: 'sha256' };
  if (isHex(blobId, 40)) return { path, size: bytes, hash: blobId, hashKind: 'git-sha1' };
  throw invalid(repository, `has no hash for ${path}`);
}

/** Whether the path stays in its folder, on every operating system, and can be sent in an address. */
function isSafePath(path: string): boolean {
  if (!path.isWellFormed()) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they have no place in a file name.
  if (path.length > 1_024 || /[\\:\u0000-\u001f]/.test(path)) return false;
  return path.split('/').every(part => part !== '' && part !== '.' && part !== '..');
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function isHex(value: unknown, length: number): value is string {
  return typeof value === 'string' && value.length === length && /^[0-9a-f]+$/.test(value);
}

function invalid(repository: string, fault: string, cause?: unknown): HubError {
  return new HubError('reply_invalid', `The Hub's description of ${repository} ${fault}.`, { cause });
}
