// Settings of models that other servers answer for. Caller: `../settings.ts`.

import { z } from 'zod';
import { wholeNumber } from '../setting-values.ts';
import { setting } from './setting.ts';

/** Before the id of a model, in capitals: its own key. */
export const UPSTREAM_KEY_PREFIX = 'ORTLER_UPSTREAM_KEY_';

const LONGEST_WAIT_MS = 86_400_000;

export const UPSTREAM_SETTINGS = {
  upstreamKey: setting<string | undefined>({
    variable: 'ORTLER_UPSTREAM_KEY',
    flag: '--upstream-key',
    valueName: 'key',
    fallback: undefined,
    description:
      'API key for the servers of models that are given by address. `ORTLER_UPSTREAM_KEY_<ID>` is that of one model, with its id in capitals and _ for all but letters and digits. Prefer the variable: flags show in process lists.',
    schema: z.string().regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces'),
    isSecret: true,
  }),
  upstreamConnectMs: setting({
    variable: 'ORTLER_UPSTREAM_CONNECT_MS',
    flag: '--upstream-connect-ms',
    valueName: 'milliseconds',
    fallback: '5000',
    description: 'Longest time for a connection to a server of such a model.',
    schema: wholeNumber(1, LONGEST_WAIT_MS),
  }),
  upstreamFirstByteMs: setting({
    variable: 'ORTLER_UPSTREAM_FIRST_BYTE_MS',
    flag: '--upstream-first-byte-ms',
    valueName: 'milliseconds',
    fallback: '300000',
    description:
      'Longest time until such a server begins to answer: its queue and the prompt, and without `stream` the whole generation.',
    schema: wholeNumber(1, LONGEST_WAIT_MS),
  }),
  upstreamSilenceMs: setting({
    variable: 'ORTLER_UPSTREAM_SILENCE_MS',
    flag: '--upstream-silence-ms',
    valueName: 'milliseconds',
    fallback: '120000',
    description: 'Longest silence of such a server within an answer.',
    schema: wholeNumber(1, LONGEST_WAIT_MS),
  }),
} as const;
