// Settings of rate limits: requests and tokens per minute, and requests at once, of each key and of each team. Keys may have
// limits of their own (`ortler keys create`). Caller: `../settings.ts`.

import { wholeNumber } from '../setting-values.ts';
import { setting } from './setting.ts';

/** 0: no limit. */
const LIMIT = wholeNumber(0, 1_000_000_000);

export const LIMIT_SETTINGS = {
  keyRequestsPerMinute: setting({
    variable: 'ORTLER_KEY_REQUESTS_PER_MINUTE',
    flag: '--key-requests-per-minute',
    valueName: 'number',
    fallback: '0',
    description: 'Rate limit of each key without one of its own: requests per minute; 0 means no limit.',
    schema: LIMIT,
  }),
  keyTokensPerMinute: setting({
    variable: 'ORTLER_KEY_TOKENS_PER_MINUTE',
    flag: '--key-tokens-per-minute',
    valueName: 'number',
    fallback: '0',
    description:
      'Rate limit of each key without one of its own: tokens of prompts and answers per minute; 0 means no limit.',
    schema: LIMIT,
  }),
  keyConcurrency: setting({
    variable: 'ORTLER_KEY_CONCURRENCY',
    flag: '--key-concurrency',
    valueName: 'number',
    fallback: '0',
    description:
      'Maximum number of requests of each key that are open at once, streams included; 0 means no limit.',
    schema: LIMIT,
  }),
  teamRequestsPerMinute: setting({
    variable: 'ORTLER_TEAM_REQUESTS_PER_MINUTE',
    flag: '--team-requests-per-minute',
    valueName: 'number',
    fallback: '0',
    description: 'Rate limit of all keys of a team together: requests per minute; 0 means no limit.',
    schema: LIMIT,
  }),
  teamTokensPerMinute: setting({
    variable: 'ORTLER_TEAM_TOKENS_PER_MINUTE',
    flag: '--team-tokens-per-minute',
    valueName: 'number',
    fallback: '0',
    description:
      'Rate limit of all keys of a team together: tokens of prompts and answers per minute; 0 means no limit.',
    schema: LIMIT,
  }),
  teamConcurrency: setting({
    variable: 'ORTLER_TEAM_CONCURRENCY',
    flag: '--team-concurrency',
    valueName: 'number',
    fallback: '0',
    description: 'Maximum number of requests of all keys of a team that are open at once; 0 means no limit.',
    schema: LIMIT,
  }),
} as const;
