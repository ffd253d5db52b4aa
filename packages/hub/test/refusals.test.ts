// What a caller reads when the Hub refuses.

import { fetchModel } from '@ortler/hub';
import { TEST_TOKEN } from '@ortler/hub/testing';
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
  ...['../x', '/etc/x', 'a//b', 'a\\b', 'C:x', 'a/./b', '', 'a\u0000'].map((rfilename): [unknown, string] => [
    { sha: 'a'.repeat(40), siblings: [{ rfilename, size: 1, blobId: 'b'.repeat(40) }] },
    'has a file with the path',
  ]),
  [
    { sha: 'a'.repeat(40), siblings: [{ rfilename: 'x', size: -1, blobId: 'b'.repeat(40) }] },
    'has no size for x',
  ],
  [{ sha: 'a'.repeat(40), siblings: [{ rfilename: 'x', size: 1, blobId: '../../x' }] }, 'has no hash for x'],
])('the listing %j is refused', (listing, message) => {
  expect(() => parseRepositoryInfo('org/model', listing)).toThrow(message);
});
