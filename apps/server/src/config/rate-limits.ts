// The rate limits of the configuration in the form of the api.

import type { RateLimits } from '@ortler/api';
import type { Config } from './config.ts';

/** Limits of each key and of each team; 0 means no limit. */
export function toRateLimits(config: Config): { readonly perKey: RateLimits; readonly perTeam: RateLimits } {
  return {
    perKey: {
      requestsPerMinute: config.keyRequestsPerMinute || null,
      tokensPerMinute: config.keyTokensPerMinute || null,
      concurrency: config.keyConcurrency || null,
    },
    perTeam: {
      requestsPerMinute: config.teamRequestsPerMinute || null,
      tokensPerMinute: config.teamTokensPerMinute || null,
      concurrency: config.teamConcurrency || null,
    },
  };
}
