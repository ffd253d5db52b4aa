// A Hub on this machine: the listing, the resolve addresses with their headers, and a second server in the place of the content
// network that large files are redirected to. Tests put faults into its replies.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeRepository, type StoredRepository } from './describe-repository.ts';
import { commitOf, createHubFile, etagOf } from './hub-files.ts';
import { type Fault, sendContent } from './send-content.ts';

export interface HubRepository {
  readonly files: Readonly<Record<string, Buffer | string>>;
  /** `gated`: files need a token; `private`: everything does. */
  readonly access?: 'public' | 'gated' | 'private';
  /** Branches and tags besides `main`; each has the content of that commit. */
  readonly revisions?: Readonly<Record<string, Readonly<Record<string, Buffer | string>>>>;
}

export interface SeenRequest {
  readonly server: 'hub' | 'cdn';
  readonly method: string;
  readonly url: string;
  readonly range: string | undefined;
  readonly hasToken: boolean;
}

export interface LocalHub {
  /** For HF_ENDPOINT. */
  readonly url: string;
  /** All requests so far, in order. */
  readonly requests: SeenRequest[];
  /** Consulted before each reply. */
  fault: (request: SeenRequest) => Fault | undefined;
  /** Replaces the content of a repository, or adds one. */
  put(name: string, repository: HubRepository): void;
  commit(name: string, revision?: string): string;
  /** Name of a file's blob in a cache. */
  etag(name: string, path: string): string;
  close(): Promise<void>;
}

/** The token that opens gated and private repositories. */
export const TEST_TOKEN = 'hf_abcdefghijklmnopqrstuvwxyz0123456789';

/** Starts both servers on free ports of 127.0.0.1. */
export async function startHub(
  repositories: Readonly<Record<string, HubRepository>> = {},
): Promise<LocalHub> {
  const stored = new Map<string, StoredRepository>();
  const blobs = new Map<string, Buffer>();
  const requests: SeenRequest[] = [];
  let cdnUrl = '';

  const see = (server: SeenRequest['server'], { method, url, headers }: IncomingMessage): SeenRequest => {
    const seen = {
      server,
      method: method!,
      url: url!,
      range: headers.range,
      hasToken: headers.authorization !== undefined,
    };
    requests.push(seen);
    return seen;
  };

  const hub = createServer((request, response) => {
    const seen = see('hub', request);
    const fault = local.fault(seen);
    if (fault?.kind === 'status') return sendStatus(response, fault.status, fault.headers);
    const { pathname, searchParams } = new URL(request.url!, local.url);
    const hasAccess = request.headers.authorization === `Bearer ${TEST_TOKEN}`;
    if (seen.hasToken && !hasAccess)
      return sendStatus(response, 401, { 'x-error-message': 'Invalid credentials in Authorization header' });
    const [, api, owner, model, action = '', rest = ''] =
      /^\/(api\/models\/|api\/resolve-cache\/models\/)?([^/]+)\/([^/]+)(?:\/([^/]+)(?:\/(.+))?)?$/.exec(
        pathname,
      ) ?? [];
    const name = `${owner}/${model}`;
    const repository = stored.get(name);
    if (repository === undefined || (repository.access === 'private' && !hasAccess))
      return seen.hasToken
        ? sendStatus(response, 404, { 'x-error-code': 'RepoNotFound' })
        : sendStatus(response, 401, { 'x-error-message': 'Invalid username or password.' });
    if (api === 'api/models/') {
      const reply = describeRepository(name, repository, {
        action,
        revision: action === '' ? 'main' : decodeURIComponent(rest),
        hasBlobs: searchParams.get('blobs') === 'true',
      });
      if (reply !== undefined) return sendJson(response, reply);
      return sendStatus(response, 404, { 'x-error-code': 'RevisionNotFound' });
    }
    if (repository.access === 'gated' && !hasAccess)
      return sendStatus(response, seen.hasToken ? 403 : 401, { 'x-error-code': 'GatedRepo' });
    const isCache = api !== undefined;
    const [revision, path] = splitPath(isCache ? `${action}/${rest}` : rest);
    const commit = repository.refs.get(revision) ?? revision;
    const file = repository.commits.get(commit)?.find(other => other.path === path);
    if (repository.commits.get(commit) === undefined)
      return sendStatus(response, 404, { 'x-error-code': 'RevisionNotFound' });
    if (file === undefined) return sendStatus(response, 404, { 'x-error-code': 'EntryNotFound' });
    const headers = { 'x-repo-commit': commit, 'accept-ranges': 'bytes' };
    if (file.sha256 !== undefined) {
      const location = `${cdnUrl}/${file.sha256}?X-Amz-Signature=abc`;
      const linked = { 'x-linked-etag': `"${file.sha256}"`, 'x-linked-size': String(file.content.length) };
      return sendStatus(response, 302, { ...headers, ...linked, location });
    }
    if (!isCache)
      return sendStatus(response, 307, {
        ...headers,
        location: `/api/resolve-cache/models/${name}/${commit}/${encodeURI(path)}`,
      });
    return sendContent(request, response, file.content, { ...headers, etag: `"${file.blobId}"` }, fault);
  });

  const cdn = createServer((request, response) => {
    const fault = local.fault(see('cdn', request));
    if (fault?.kind === 'status') return sendStatus(response, fault.status, fault.headers);
    const content = blobs.get(/^\/([0-9a-f]+)/.exec(request.url!)?.[1] ?? '');
    if (content === undefined) return sendStatus(response, 403);
    return sendContent(request, response, content, { etag: '"of-the-cdn"', 'accept-ranges': 'bytes' }, fault);
  });

  const local: LocalHub = {
    url: await listen(hub),
    requests,
    fault: () => undefined,
    put(name, { files, access = 'public', revisions = {} }) {
      const repository = stored.get(name) ?? { access, commits: new Map(), refs: new Map() };
      for (const [revision, content] of Object.entries({ main: files, ...revisions })) {
        const list = Object.entries(content)
          .map(([path, bytes]) => createHubFile(path, Buffer.from(bytes)))
          .toSorted((a, b) => (a.path < b.path ? -1 : 1));
        for (const file of list) blobs.set(etagOf(file), file.content);
        const commit = commitOf(list);
        repository.commits.set(commit, list);
        repository.refs.set(revision, commit);
      }
      stored.set(name, repository);
    },
    commit: (name, revision = 'main') => stored.get(name)!.refs.get(revision)!,
    etag(name, path) {
      const { commits, refs } = stored.get(name)!;
      return etagOf(commits.get(refs.get('main')!)!.find(file => file.path === path)!);
    },
    async close() {
      for (const server of [hub, cdn]) {
        server.closeAllConnections();
        await new Promise(resolve => server.close(resolve));
      }
    },
  };
  cdnUrl = await listen(cdn);
  for (const [name, repository] of Object.entries(repositories)) local.put(name, repository);
  return local;
}

function splitPath(rest: string): readonly [string, string] {
  const slash = rest.indexOf('/');
  return [decodeURIComponent(rest.slice(0, slash)), decodeURIComponent(rest.slice(slash + 1))];
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function sendStatus(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-length': '0', ...headers }).end();
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
