// What a caller reads when the Hub refuses.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fetchModel, readModelListing } from '@ortler/hub';
import { type Fault, type SeenRequest, TEST_TOKEN } from '@ortler/hub/testing';
import { expect, test } from 'vitest';
import { parseRepositoryInfo } from '../src/protocol/repository-info.ts';
import { checkpointFiles, temporaryHub } from './temporary-hub.ts';

const repositories = {
  'org/open': { files: checkpointFiles() },
  'org/gated': { files: checkpointFiles(), access: 'gated' as const },
  'org/private': { files: checkpointFiles(), access: 'private' as const },
};
const WRONG = 'hf_wrongwrongwrongwrongwrongwrongwrong';

test.each([
  [
    'org/nothing',
    undefined,
    'repository_not_found',
    /^org\/nothing does not exist at http.+, or it is private\..+HF_TOKEN/,
  ],
  ['org/nothing', TEST_TOKEN, 'repository_not_found', /or the token has no access to it\.$/],
  ['org/private', undefined, 'repository_not_found', /or it is private/],
  ['org/open@v9', undefined, 'not_found', /^org\/open has no revision "v9"/],
  ['org/open', WRONG, 'access_denied', /does not accept the token \(401\)/],
  [
    'org/gated',
    undefined,
    'access_denied',
    /^org\/gated is gated\. Accept its licence at http.+\/org\/gated, then set HF_TOKEN/,
  ],
  ['org/open:Q4_K_M', undefined, 'not_found', /It has no GGUF file\.$/],
])('%s with the token %s is refused with a hint', async (name, token, code, message) => {
  const { hub, options } = await temporaryHub(repositories);
  const error = await fetchModel(name, { ...options, ...(token === undefined ? {} : { token }) }).catch(
    (fault: Error) => fault,
  );
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  expect(JSON.stringify([String((error as Error).stack), String((error as Error).cause)])).not.toContain(
    'hf_w',
  );
  expect(hub.requests.some(({ server }) => server === 'cdn')).toBe(false);
});

test('a gated repository opens with its token', async () => {
  const { options } = await temporaryHub(repositories);
  await fetchModel('org/gated', { ...options, token: TEST_TOKEN });
});

const isFile = ({ url }: SeenRequest) => url.endsWith('/model.safetensors');

test.each<[string, Fault & { readonly kind: 'status' }, (request: SeenRequest) => boolean, string, RegExp]>([
  [
    'a file without a code, as of a mirror, names the file',
    { kind: 'status', status: 404 },
    isFile,
    'not_found',
    /^model\.safetensors of org\/open does not exist at http/,
  ],
  [
    'a repository that is disabled has the words of the Hub',
    {
      kind: 'status',
      status: 403,
      headers: { 'x-error-message': 'Access to this resource is disabled.' },
    },
    () => true,
    'access_denied',
    /\(403\): Access to this resource is disabled\.$/,
  ],
  [
    'a limit of requests says how long it lasts',
    { kind: 'status', status: 429, headers: { 'retry-after': '3600' } },
    () => true,
    'rate_limited',
    /\(429\) and asks to wait 3600 s/,
  ],
  [
    'a redirect to a scheme that is no web address names both',
    { kind: 'status', status: 302, headers: { location: 'file:///etc/passwd' } },
    () => true,
    'reply_invalid',
    /redirects from http:\/\/127.+ to file:\/\/, which is not followed\.$/,
  ],
  [
    'a redirect with a password leaves it out',
    { kind: 'status', status: 302, headers: { location: 'http://user:secret@127.0.0.1:9/x' } },
    () => true,
    'reply_invalid',
    /to an address of 127\.0\.0\.1:9 with a user name or password, which is not followed\.$/,
  ],
])('the refusal of %s', async (_, fault, matches, code, message) => {
  const { hub, options } = await temporaryHub(repositories);
  hub.fault = request => (matches(request) ? fault : undefined);
  await expect(fetchModel('org/open', options)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message),
  });
});

test('a listing of another commit than the one that was pinned is refused', async () => {
  const { hub, options } = await temporaryHub(repositories);
  const listing = { sha: hub.commit('org/open'), siblings: [] };
  const mirror = createServer((_, response) => response.end(JSON.stringify(listing))).listen(0, '127.0.0.1');
  await once(mirror, 'listening');
  const { port } = mirror.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const pinned = 'b'.repeat(40);
  await expect(fetchModel(`org/open@${pinned}`, { ...options, endpoint })).rejects.toMatchObject({
    code: 'reply_invalid',
    message: expect.stringContaining(`${pinned} was asked for`),
  });
  mirror.close();
});

test('an index of shards that is no small text is refused before it is asked for', async () => {
  const { options } = await temporaryHub({});
  const urls: string[] = [];
  const siblings = ['config.json', 'model.safetensors.index.json'].map(rfilename => ({
    rfilename,
    size: 2 ** 40,
    blobId: 'b'.repeat(40),
  }));
  const server = createServer(({ url }, response) => {
    urls.push(url!);
    response.end(JSON.stringify({ sha: 'a'.repeat(40), siblings }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const expected = {
    code: 'reply_invalid',
    message:
      'model.safetensors.index.json of org/model should be a small text, and has 1.1 TB; at most 67.1 MB are read.',
  };
  const endpoint = `http://127.0.0.1:${port}`;
  await expect(fetchModel('org/model', { ...options, endpoint })).rejects.toMatchObject(expected);
  await expect(readModelListing('org/model', { ...options, endpoint })).rejects.toMatchObject(expected);
  expect(urls).toHaveLength(2);
  server.close();
});

test('a range that would fill the memory is refused before it is asked for', async () => {
  const { options } = await temporaryHub({});
  const siblings = [{ rfilename: 'a.gguf', size: 2 ** 40, blobId: 'b'.repeat(40) }];
  const server = createServer((_, response) =>
    response.end(JSON.stringify({ sha: 'a'.repeat(40), siblings })),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const listing = await readModelListing('org/model', { ...options, endpoint: `http://127.0.0.1:${port}` });
  await expect(listing.read('a.gguf', 0, 2 ** 40)).rejects.toMatchObject({
    code: 'reply_invalid',
    message:
      'a.gguf of org/model is listed with 1.1 TB; at most 268.4 MB of a file are read to describe a model.',
  });
  server.close();
});

test('a refusal says that the cache has a copy', async () => {
  const { hub, options } = await temporaryHub(repositories);
  await fetchModel('org/open', options);
  hub.fault = () => ({ kind: 'status', status: 401, headers: {} });
  await expect(fetchModel('org/open', options)).rejects.toThrow('The cache has a copy: --offline uses it.');
});

test.each<[unknown, string]>([
  [null, 'has no commit'],
  [{ sha: 'main', siblings: [] }, 'has no commit'],
  [{ sha: 'a'.repeat(40) }, 'has no files'],
  ...['../x', '/etc/x', 'a//b', 'a\\b', 'C:x', 'a/./b', '', 'a\u0000', '\ud800.gguf'].map(
    (rfilename): [unknown, string] => [
      { sha: 'a'.repeat(40), siblings: [{ rfilename, size: 1, blobId: 'b'.repeat(40) }] },
      'has a file with the path',
    ],
  ),
  [
    { sha: 'a'.repeat(40), siblings: [{ rfilename: 'x', size: -1, blobId: 'b'.repeat(40) }] },
    'has no size for x',
  ],
  [{ sha: 'a'.repeat(40), siblings: [{ rfilename: 'x', size: 1, blobId: '../../x' }] }, 'has no hash for x'],
])('the listing %j is refused', (listing, message) => {
  expect(() => parseRepositoryInfo('org/model', listing)).toThrow(message);
});
