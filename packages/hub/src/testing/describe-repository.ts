// What the API of the local Hub says of a repository, in the shapes of the real one.

import type { HubFile } from './hub-files.ts';

export interface StoredRepository {
  readonly access: 'public' | 'gated' | 'private';
  /** Files by commit. */
  readonly commits: Map<string, readonly HubFile[]>;
  readonly refs: Map<string, string>;
}

export interface ApiQuery {
  /** After the name: `revision`, `tree` or `refs`; empty for the repository itself. */
  readonly action: string;
  readonly revision: string;
  readonly hasBlobs: boolean;
}

const POINTER_SIZE = 135;

/** Undefined for a revision that is not there. */
export function describeRepository(
  name: string,
  { commits, refs, access }: StoredRepository,
  { action, revision, hasBlobs }: ApiQuery,
): unknown {
  if (action === 'refs')
    return {
      branches: [...refs].map(([branch, targetCommit]) => ({ name: branch, targetCommit })),
      tags: [],
    };
  const commit = refs.get(revision) ?? revision;
  const files = commits.get(commit);
  if (files === undefined) return undefined;
  if (action === 'tree') return files.map(describeInTree);
  return {
    _id: '1',
    id: name,
    modelId: name,
    sha: commit,
    private: access === 'private',
    gated: access === 'gated' ? 'manual' : false,
    tags: [],
    siblings: files.map(file => describeSibling(file, hasBlobs)),
  };
}

function describeInTree({ path, content, blobId, sha256 }: HubFile) {
  const file = { type: 'file', oid: blobId, size: content.length, path };
  return sha256 === undefined
    ? file
    : { ...file, lfs: { oid: sha256, size: content.length, pointerSize: POINTER_SIZE } };
}

function describeSibling({ path, content, blobId, sha256 }: HubFile, hasBlobs: boolean) {
  if (!hasBlobs) return { rfilename: path };
  const sibling = { rfilename: path, size: content.length, blobId };
  return sha256 === undefined
    ? sibling
    : { ...sibling, lfs: { sha256, size: content.length, pointerSize: POINTER_SIZE } };
}
