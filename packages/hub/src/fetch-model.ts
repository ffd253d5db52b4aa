// From a name to files: those of the cache, or those of the Hub, downloaded into the cache.

import { RepositoryFolder } from './cache/layout.ts';
import { readRef } from './cache/snapshot.ts';
import { toWriteFailure } from './cache/write-failure.ts';
import { findCachedModel } from './cached-model.ts';
import { fetchListed } from './download-snapshot.ts';
import { HubError } from './errors.ts';
import type { Fetch, FetchedModel, FetchModelOptions } from './fetch-options.ts';
import { readHubSettings } from './hub-settings.ts';
import { formatModelReference, type ModelReference, parseModelReference } from './model-reference.ts';
import { withConnectionAdvice } from './protocol/connection-advice.ts';
import { HubClient } from './protocol/hub-client.ts';
import { fetchRepositoryInfo, type RepositoryInfo } from './protocol/repository-info.ts';
import { retry } from './protocol/retry.ts';
import { DEFAULT_TUNING, type Tuning } from './tuning.ts';

/**
 * Files of a model that are whole and checked. The Hub is asked for the list of its files every time, because another program
 * may have put only some of them into the cache; only what the cache lacks is downloaded. Without a connection the cache is
 * used. Several processes may fetch the same model at once.
 *
 * Mutates: the disk, in the cache. Throws: `HubError`, or the reason of `signal`; the next call resumes.
 */
export async function fetchModel(
  model: string | ModelReference,
  options: FetchModelOptions = {},
): Promise<FetchedModel> {
  const reference = typeof model === 'string' ? parseModelReference(model) : model;
  const settings = await readHubSettings(options);
  const folder = new RepositoryFolder(settings.cacheDir, reference.repository);
  const tuning = { ...DEFAULT_TUNING, ...dropUndefined(options.tuning) };
  const client = new HubClient(settings, tuning);
  const fetch: Fetch = { reference, settings, folder, client, tuning, options };
  options.signal?.throwIfAborted();
  const cachedCommit = await readRef(folder, reference.revision);
  const cached =
    cachedCommit === undefined
      ? undefined
      : await findCachedModel(folder, cachedCommit, reference, options.chooseGraph);
  if (settings.isOffline) return cached ?? refuseOffline(fetch);
  const info = await listRepository(fetch, cached);
  try {
    return info === undefined ? cached! : await fetchListed(fetch, info);
  } catch (error) {
    throw await toWriteFailure(error, settings.cacheDir);
  }
}

/** Undefined where the Hub cannot be reached and the cache has the model. */
async function listRepository(
  { reference, client, tuning, options }: Fetch,
  cached: FetchedModel | undefined,
): Promise<RepositoryInfo | undefined> {
  const { signal, onNotice } = options;
  try {
    return await retry(() => fetchRepositoryInfo(client, reference, signal), {
      // With a copy in the cache there is no need to wait for a connection.
      tuning: cached === undefined ? tuning : { ...tuning, tryCount: 1 },
      signal,
      onWait: onNotice,
    });
  } catch (error) {
    if (cached === undefined) throw withConnectionAdvice(error);
    if (!(error instanceof HubError)) throw error;
    if (error.code !== 'unreachable' && error.code !== 'rate_limited')
      throw new HubError(error.code, `${error.message} The cache has a copy: --offline uses it.`, {
        cause: error,
      });
    onNotice?.(`${error.message} Using the copy of ${formatModelReference(reference)} in the cache.`);
    return undefined;
  }
}

function refuseOffline({ reference, settings }: Fetch): never {
  throw new HubError(
    'not_cached',
    `${formatModelReference(reference)} is not, or not completely, in the cache ${settings.cacheDir}, and downloads are off (--offline or HF_HUB_OFFLINE).`,
  );
}

function dropUndefined(tuning: Partial<Tuning> = {}): Partial<Tuning> {
  return Object.fromEntries(Object.entries(tuning).filter(([, value]) => value !== undefined));
}
