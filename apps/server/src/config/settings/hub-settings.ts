// Settings of the Hub, under the variables that Python's huggingface_hub has. Caller: `../settings.ts`.

import { isTrue } from '@ortler/hub';
import { z } from 'zod';
import { setting } from './setting.ts';

export const HUB_SETTINGS = {
  offline: setting({
    variable: 'HF_HUB_OFFLINE',
    flag: '--offline',
    valueName: 'on',
    fallback: 'off',
    description: 'Models that are given by name come from the cache only; nothing is downloaded.',
    isSwitch: true,
    schema: z
      .string()
      .regex(/^(1|on|yes|true|0|off|no|false)$/i, 'must be on or off')
      .transform(isTrue),
  }),
  hubCacheDir: setting<string | undefined>({
    variable: 'HF_HUB_CACHE',
    flag: '--hub-cache',
    valueName: 'folder',
    fallback: undefined,
    shownFallback: '`hub` in `HF_HOME`, or ~/.cache/huggingface/hub',
    description:
      'Cache of models that are given by name, shared with Python and llama.cpp. Built models are in the data folder.',
    schema: z.string().min(1, 'must not be empty'),
  }),
  hubEndpoint: setting<string | undefined>({
    variable: 'HF_ENDPOINT',
    flag: '--hub-endpoint',
    valueName: 'url',
    fallback: undefined,
    shownFallback: 'https://huggingface.co',
    description: 'Address of the Hub, or of a mirror of it.',
    schema: z.string().regex(/^https?:\/\//, 'must be a URL such as https://huggingface.co'),
  }),
  hubToken: setting<string | undefined>({
    variable: 'HF_TOKEN',
    flag: '--hub-token',
    valueName: 'token',
    fallback: undefined,
    shownFallback: 'the file of `HF_TOKEN_PATH`, or `token` in `HF_HOME`',
    description:
      'Access token for private and gated models; it is sent to the Hub only. Prefer the variable: flags show in process lists.',
    schema: z.string().min(1, 'must not be empty'),
    isSecret: true,
  }),
} as const;
