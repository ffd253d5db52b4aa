// The settings of the Hub as its client takes them.

import type { HubOptions } from '@ortler/hub';
import type { Config } from '../config/config.ts';

/** What no setting says comes from the environment: HF_HOME, HF_TOKEN_PATH and others. */
export function toHubOptions({
  hubCacheDir,
  hubEndpoint,
  hubToken,
  offline,
}: Pick<Config, 'hubCacheDir' | 'hubEndpoint' | 'hubToken' | 'offline'>): HubOptions {
  return {
    cacheDir: hubCacheDir,
    endpoint: hubEndpoint,
    // The variable is read by the client, which knows HF_HUB_DISABLE_IMPLICIT_TOKEN.
    token: hubToken === process.env.HF_TOKEN ? undefined : hubToken,
    // TRANSFORMERS_OFFLINE counts too.
    offline: offline ? true : undefined,
    variables: process.env,
  };
}
