// Settings of generation: where defaults of requests come from, how many answers run and wait, how their steps are cut, what is
// kept of computed prompts. Caller: `../settings.ts`.

import { byteSize, MEBIBYTE, oneOf, wholeNumber } from '../setting-values.ts';
import { setting } from './setting.ts';

export const GENERATION_SETTINGS = {
  maxSequences: setting({
    variable: 'ORTLER_MAX_SEQUENCES',
    flag: '--max-sequences',
    valueName: 'number',
    fallback: '8',
    description: 'Answers of one model that are generated at the same time; more wait in a queue.',
    schema: wholeNumber(1, 1_024),
  }),
  maxQueued: setting({
    variable: 'ORTLER_MAX_QUEUED',
    flag: '--max-queued',
    valueName: 'number',
    fallback: '256',
    description:
      'Answers of one model that may wait for their start; more are refused with 429 and a time to wait.',
    schema: wholeNumber(0, 100_000),
  }),
  scheduling: setting({
    variable: 'ORTLER_SCHEDULING',
    flag: '--scheduling',
    valueName: 'name',
    fallback: 'fcfs',
    description:
      'Who starts first: fcfs, in order of arrival, or priority, by the priority of the request, lower first.',
    schema: oneOf(['fcfs', 'priority']),
  }),
  prefillChunk: setting({
    variable: 'ORTLER_PREFILL_CHUNK',
    flag: '--prefill-chunk',
    valueName: 'tokens',
    fallback: '256',
    description: 'Most prompt tokens of one step while no answer runs.',
    schema: wholeNumber(1, 65_536),
  }),
  mixedChunk: setting<number | undefined>({
    variable: 'ORTLER_MIXED_CHUNK',
    flag: '--mixed-chunk',
    valueName: 'tokens',
    fallback: undefined,
    shownFallback: '32, or 128 on a GPU',
    description:
      'Most prompt tokens of one step while answers run, fewer deep in a prompt: smaller keeps answers even, larger lets new ones start sooner.',
    schema: wholeNumber(1, 65_536),
  }),
  wideGraphs: setting({
    variable: 'ORTLER_WIDE_GRAPHS',
    flag: '--wide-graphs',
    valueName: 'on or off',
    fallback: 'on',
    description:
      'Whether models in 4 bits compute prompts and batches with 8-bit integers: several times faster, for one more byte of memory per weight.',
    schema: oneOf(['on', 'off']),
  }),
  generationConfig: setting({
    variable: 'ORTLER_GENERATION_CONFIG',
    flag: '--generation-config',
    valueName: 'on or off',
    fallback: 'on',
    description:
      "Whether requests take what they leave open from the model's generation_config.json: temperature and the like, and the most tokens. With off these are neutral. Its end tokens always count.",
    schema: oneOf(['on', 'off']),
  }),
  prefixCache: setting({
    variable: 'ORTLER_PREFIX_CACHE',
    flag: '--prefix-cache',
    valueName: 'on or off',
    fallback: 'on',
    description: 'Whether computed prompts are kept for later requests that begin alike.',
    schema: oneOf(['on', 'off']),
  }),
  promptCacheScope: setting({
    variable: 'ORTLER_PROMPT_CACHE_SCOPE',
    flag: '--prompt-cache-scope',
    valueName: 'name',
    fallback: 'team',
    description:
      'Whose requests may share cached prompts: those of one team, or with server those of everybody. Shared ones show in waiting times.',
    schema: oneOf(['team', 'server']),
  }),
  cacheSlots: setting({
    variable: 'ORTLER_CACHE_SLOTS',
    flag: '--cache-slots',
    valueName: 'number',
    fallback: '4',
    description:
      'Places for computed prompts besides those of running answers. Each takes as much memory as the longest prompt and answer it ever held. Unused without the prefix cache.',
    schema: wholeNumber(0, 1_024),
  }),
  cacheBytes: setting<number | undefined>({
    variable: 'ORTLER_CACHE_MEMORY',
    flag: '--cache-memory',
    valueName: 'size',
    fallback: undefined,
    shownFallback: 'what the model leaves of the device, as far as it can be used',
    description:
      'Memory of each model on a GPU for prompts and answers: bytes, or a number with kb, mb or gb.',
    schema: byteSize(MEBIBYTE, 1_024 * 1_024 * MEBIBYTE),
  }),
  speculation: setting({
    variable: 'ORTLER_SPECULATION',
    flag: '--speculation',
    valueName: 'auto or off',
    fallback: 'auto',
    description:
      'Whether repetitions in a text, and what a constraint leaves no choice about, are used to check several next tokens in one model call, while that is faster. Answers are the same but for rounding.',
    schema: oneOf(['auto', 'off']),
  }),
} as const;
