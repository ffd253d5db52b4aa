// A Hub that fails: every download ends whole and checked, or with an error that says what happened.

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fetchModel, readModelListing } from '@ortler/hub';
import type { Fault, SeenRequest } from '@ortler/hub/testing';
import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, test } from 'vitest';
import { checkpointFiles, findHalfMade, TUNING, temporaryHub } from './temporary-hub.ts';

const NAME = 'org/model';
const NEEDED = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];

/** Gives silent connections up sooner. */
const IMPATIENT = { ...TUNING, silenceMs: 1_000, tryCount: 2 };

/** A fault for the first requests that match. */
function first(count: number, fault: Fault, matches: (request: SeenRequest) => boolean) {
  let left = count;
  return (request: SeenRequest) => (matches(request) && left-- > 0 ? fault : undefined);
}

const isWeights = ({ server, method }: SeenRequest) => server === 'cdn' && method === 'GET';
const isListing = ({ url }: SeenRequest) => url.startsWith('/api/models/');

describe('a download overcomes', () => {
  test.each<[string, Fault, (request: SeenRequest) => boolean]>([
    ['cut connections', { kind: 'cut', afterBytes: 20_000 }, isWeights],
    ['connections that are cut before the first byte', { kind: 'cut', afterBytes: 0 }, isWeights],
    ['bodies that end early', { kind: 'truncate', afterBytes: 20_000 }, isWeights],
    ['silence in the middle of a body', { kind: 'silence', afterBytes: 20_000 }, isWeights],
    ['an error of the content network', { kind: 'status', status: 500 }, isWeights],
    ['an address that has expired', { kind: 'status', status: 403 }, isWeights],
    ['a busy Hub', { kind: 'status', status: 503 }, isListing],
    ['a listing that is cut', { kind: 'cut', afterBytes: 100 }, isListing],
    ['429 of the Hub', { kind: 'status', status: 429, headers: { 'retry-after': '0' } }, isListing],
    ['servers that ignore ranges', { kind: 'ignore-ranges' }, isWeights],
  ])('%s', async (_, fault, matches) => {
    const files = checkpointFiles();
    const temporary = await temporaryHub({ [NAME]: { files } });
    temporary.hub.fault = first(3, fault, matches);
    const { path } = await fetchModel(NAME, temporary.options);
    expect(await readFile(join(path, 'model.safetensors'))).toEqual(files['model.safetensors']);
    expect(await findHalfMade(temporary, NAME, files, NEEDED)).toEqual([]);
  });

  test('a server that never sends ranges and is cut now and then', async () => {
    const files = checkpointFiles(200_000);
    const { hub, options } = await temporaryHub({ [NAME]: { files } });
    let count = 0;
    // The first tries of the whole file get further each time, as chunks are kept.
    hub.fault = request => {
      if (!isWeights(request)) return undefined;
      if (request.range !== undefined) return { kind: 'ignore-ranges' };
      count++;
      return count < 4 ? { kind: 'cut', afterBytes: 40_000 * count } : { kind: 'ignore-ranges' };
    };
    const { path } = await fetchModel(NAME, options);
    expect(await readFile(join(path, 'model.safetensors'))).toEqual(files['model.safetensors']);
    expect(count).toBe(4);
  });

  test('a wrong byte, which its hash shows, with a second download', async () => {
    const files = checkpointFiles();
    const { hub, options } = await temporaryHub({ [NAME]: { files } });
    hub.fault = first(1, { kind: 'wrong-byte' }, isWeights);
    const { path } = await fetchModel(NAME, options);
    expect(await readFile(join(path, 'model.safetensors'))).toEqual(files['model.safetensors']);
    expect(hub.requests.filter(isWeights)).toHaveLength(10);
  });

  test('bytes of an earlier process that were damaged on disk', async () => {
    const files = checkpointFiles();
    const { hub, cacheDir, options } = await temporaryHub({ [NAME]: { files } });
    hub.fault = request => (request.range === 'bytes=0-65535' ? { kind: 'status', status: 500 } : undefined);
    await expect(fetchModel(NAME, options)).rejects.toMatchObject({ code: 'unreachable' });
    const blobs = join(cacheDir, 'models--org--model/blobs');
    const partial = join(blobs, (await readdir(blobs)).find(name => name.endsWith('.incomplete'))!);
    const bytes = await readFile(partial);
    bytes[150_000]! ^= 1;
    await writeFile(partial, bytes);
    hub.fault = () => undefined;
    const { path } = await fetchModel(NAME, options);
    expect(await readFile(join(path, 'model.safetensors'))).toEqual(files['model.safetensors']);
  });

  test('any mix of faults, at any byte', async () => {
    const files = checkpointFiles(150_000);
    const fault = fc.oneof(
      fc.record({ kind: fc.constant('cut' as const), afterBytes: fc.nat(70_000) }),
      fc.record({ kind: fc.constant('truncate' as const), afterBytes: fc.nat(70_000) }),
      fc.record({ kind: fc.constant('status' as const), status: fc.constantFrom(500, 502, 503, 408, 429) }),
      fc.constant(undefined),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { maxLength: 12 }), async faults => {
        const temporary = await temporaryHub({ [NAME]: { files } });
        const left = [...faults];
        temporary.hub.fault = () => left.shift();
        const tuning = { ...TUNING, tryCount: 20 };
        await fetchModel(NAME, { ...temporary.options, tuning });
        expect(await findHalfMade(temporary, NAME, files, NEEDED)).toEqual([]);
      }),
      { numRuns: runs({ daily: 15, full: 60 }) },
    );
  }, 120_000);
});

describe('a download that fails', () => {
  const fail = async (fault: (request: SeenRequest) => Fault | undefined, tuning = TUNING) => {
    const files = checkpointFiles();
    const temporary = await temporaryHub({ [NAME]: { files } });
    temporary.hub.fault = fault;
    const error = await fetchModel(NAME, { ...temporary.options, tuning }).then(
      () => expect.fail('it succeeded'),
      (fault: unknown) => fault as Error,
    );
    expect(await findHalfMade(temporary, NAME, files, NEEDED)).toEqual([]);
    return { error, ...temporary };
  };

  test('for a hash that is wrong twice names both hashes, and keeps nothing of the file', async () => {
    const { error, hub, cacheDir } = await fail(request =>
      isWeights(request) ? { kind: 'wrong-byte' } : undefined,
    );
    expect(error).toMatchObject({ code: 'hash_mismatch' });
    expect(error.message).toContain(hub.etag(NAME, 'model.safetensors'));
    expect(error.message).toContain('It was downloaded 2 times');
    const blobs = await readdir(join(cacheDir, 'models--org--model/blobs'));
    expect(blobs).not.toContain(hub.etag(NAME, 'model.safetensors'));
  });

  test('keeps whole chunks, so that the next one fetches the rest only', async () => {
    const at = 'bytes=131072-196607';
    const { error, hub, options } = await fail(
      ({ range }) => (range === at ? { kind: 'silence', afterBytes: 0 } : undefined),
      IMPATIENT,
    );
    expect(error).toMatchObject({ code: 'unreachable' });
    hub.fault = () => undefined;
    hub.requests.length = 0;
    await fetchModel(NAME, options);
    expect(hub.requests.filter(isWeights).map(({ range }) => range)).toEqual([at]);
  });

  test.each([
    [
      'a Retry-After that is too long',
      { status: 429, headers: { 'retry-after': '3600' } },
      'rate_limited',
      'limits the rate',
    ],
    ['429 again and again', { status: 429 }, 'rate_limited', 'HF_TOKEN'],
    ['500 again and again', { status: 500 }, 'unreachable', 'answered 500'],
    ['a status that means nothing here', { status: 418 }, 'reply_invalid', 'answered 418'],
  ])('for %s says so', async (_, status, code, message) => {
    const { error } = await fail(request => (isListing(request) ? { kind: 'status', ...status } : undefined));
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  test('for redirects without end says so', async () => {
    const { error } = await fail(request =>
      isListing(request) ? { kind: 'status', status: 307, headers: { location: request.url } } : undefined,
    );
    expect(error).toMatchObject({
      code: 'reply_invalid',
      message: expect.stringContaining('more than 10 times'),
    });
  });

  test('for a silent Hub ends after a few tries', async () => {
    const { error } = await fail(
      request => (isWeights(request) ? { kind: 'silence', afterBytes: 0 } : undefined),
      IMPATIENT,
    );
    expect(error).toMatchObject({ code: 'unreachable', message: 'The connection was silent for 1 s.' });
  });

  test('for want of a connection says what can be done', async () => {
    const { hub, options } = await temporaryHub({ [NAME]: { files: checkpointFiles() } });
    await hub.close();
    const expected = { code: 'unreachable', message: expect.stringMatching(/ECONNREFUSED.*HF_ENDPOINT/) };
    await expect(fetchModel(NAME, options)).rejects.toMatchObject(expected);
    await expect(readModelListing(NAME, options)).rejects.toMatchObject(expected);
  });

  test('for a file that changes while it is resumed says so', async () => {
    const files = checkpointFiles();
    const { hub, options } = await temporaryHub({ [NAME]: { files } });
    const changed = `"${'0'.repeat(64)}"`;
    hub.fault = ({ server, url }) =>
      server === 'hub' && url.endsWith('model.safetensors')
        ? { kind: 'status', status: 200, headers: { etag: changed } }
        : undefined;
    await expect(fetchModel(NAME, options)).rejects.toMatchObject({
      code: 'reply_invalid',
      message: expect.stringContaining('has changed since its repository was listed'),
    });
  });

  test('for want of disk space asks for no weights', async () => {
    const listing = {
      sha: 'a'.repeat(40),
      siblings: [
        { rfilename: 'config.json', size: 2, blobId: 'b'.repeat(40) },
        { rfilename: 'model.safetensors', size: 2, lfs: { sha256: 'c'.repeat(64), size: 2 ** 52 } },
      ],
    };
    const { createServer } = await import('node:http');
    const urls: string[] = [];
    const server = createServer((request, response) => {
      urls.push(request.url!);
      response.end(JSON.stringify(listing));
    }).listen(0, '127.0.0.1');
    await new Promise(resolve => server.once('listening', resolve));
    const { port } = server.address() as { readonly port: number };
    const { options } = await temporaryHub({});
    const failed = fetchModel(NAME, { ...options, endpoint: `http://127.0.0.1:${port}` });
    await expect(failed).rejects.toMatchObject({
      code: 'no_space',
      message: expect.stringMatching(
        /^4503\.6 TB are to be downloaded, and the disk of .+ has .+ left, of which 16\.8 MB stay free\./,
      ),
    });
    expect(urls).toHaveLength(1);
    server.close();
  });

  test('by its signal rejects with the reason, and resumes later', async () => {
    const files = checkpointFiles();
    const { hub, options } = await temporaryHub({ [NAME]: { files } });
    const controller = new AbortController();
    hub.fault = request => (isWeights(request) ? { kind: 'slow', pieceBytes: 4_000, pauseMs: 5 } : undefined);
    // What is reported includes a begun chunk of each connection, which is not kept.
    const enough = 60_000 + TUNING.connectionCount * TUNING.chunkBytes;
    const onProgress = ({ doneBytes }: { readonly doneBytes: number }) => {
      if (doneBytes > enough) controller.abort(new Error('enough'));
    };
    await expect(fetchModel(NAME, { ...options, onProgress, signal: controller.signal })).rejects.toThrow(
      'enough',
    );
    hub.fault = () => undefined;
    const done: number[] = [];
    await fetchModel(NAME, { ...options, onProgress: progress => done.push(progress.doneBytes) });
    expect(done[0]).toBeGreaterThan(50_000);
    await expect(
      fetchModel(NAME, { ...options, signal: AbortSignal.abort(new Error('no')) }),
    ).rejects.toThrow('no');
  });
});
