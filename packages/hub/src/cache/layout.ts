// Folders of the cache, as huggingface_hub lays them out:
//
//   <cache>/models--org--name/refs/<revision>           the commit that a branch or tag stood for
//   <cache>/models--org--name/blobs/<hash>              content, each once
//   <cache>/models--org--name/snapshots/<commit>/<path> links to blobs
//   <cache>/.locks/models--org--name/                   locks

import { join } from 'node:path';

const PREFIX = 'models--';
const SEPARATOR = '--';

/** Endings of a blob that is being downloaded, and of the record of its whole chunks. */
export const PARTIAL_SUFFIX = '.ortler.incomplete';
export const RECORD_SUFFIX = '.ortler.ranges';

/** Paths of one repository in the cache. */
export class RepositoryFolder {
  readonly root: string;
  /** Our own name, because other programs lock files of their names in their own ways. */
  readonly lock: string;

  constructor(cacheDir: string, repository: string) {
    const name = `${PREFIX}${repository.replaceAll('/', SEPARATOR)}`;
    this.root = join(cacheDir, name);
    this.lock = join(cacheDir, '.locks', name, 'ortler.lock');
  }

  get blobs(): string {
    return join(this.root, 'blobs');
  }

  get refs(): string {
    return join(this.root, 'refs');
  }

  get snapshots(): string {
    return join(this.root, 'snapshots');
  }

  blob(hash: string): string {
    return join(this.blobs, hash);
  }

  ref(revision: string): string {
    return join(this.refs, ...revision.split('/'));
  }

  snapshot(commit: string): string {
    return join(this.snapshots, commit);
  }

  /** Path of a file of a snapshot. */
  link(commit: string, path: string): string {
    return join(this.snapshot(commit), ...path.split('/'));
  }
}

/** `org/model` from the name of a folder; undefined for other folders. */
export function repositoryOfFolder(name: string): string | undefined {
  const parts = name.startsWith(PREFIX) ? name.slice(PREFIX.length).split(SEPARATOR) : [];
  return parts.length === 2 && parts.every(part => part !== '') ? parts.join('/') : undefined;
}
