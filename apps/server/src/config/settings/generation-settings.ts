// Settings of generation: continuous batching, queue, scheduling, chunked prefill, dynamic quantisation, sampling defaults,
// prefix caching and speculative decoding. Caller: `../settings.ts`.

import { byteSize, MEBIBYTE, oneOf, wholeNumber } from '../setting-values.ts';
import { setting } from './setting.ts';

export const GENERATION_SETTINGS = {
  maxSequences: setting({
    variable: 'ORTLER_MAX_SEQUENCES',
    flag: '--max-sequences',
    valueName: 'number',
    fallback: '8',
    description:
      'Continuous batching: maximum number of answers of one model that are generated at the same time; more wait in a queue.',
    schema: wholeNumber(1, 1_024),
  }),
  maxQueued: setting({
    variable: 'ORTLER_MAX_QUEUED',
    flag: '--max-queued',
    valueName: 'number',
    fallback: '256',
    description:
      'Maximum number of answers of one model that may wait in the queue; further requests get 429 with Retry-After.',
    schema: wholeNumber(0, 100_000),
  }),
  stepTimeoutMs: setting({
    variable: 'ORTLER_STEP_TIMEOUT_MS',
    flag: '--step-timeout-ms',
    valueName: 'milliseconds',
    fallback: '300000',
    description:
      'Watchdog: longest time of one step of a model before its process counts as hung and is restarted; 0 means no limit.',
    schema: wholeNumber(0, 2_147_483_647),
  }),
  scheduling: setting({
    variable: 'ORTLER_SCHEDULING',
    flag: '--scheduling',
    valueName: 'name',
    fallback: 'fcfs',
    description:
      'Scheduling policy of the queue: fcfs (first come, first served) or priority (lowest priority value of the request first).',
    schema: oneOf(['fcfs', 'priority']),
  }),
  prefillChunk: setting({
    variable: 'ORTLER_PREFILL_CHUNK',
    flag: '--prefill-chunk',
    valueName: 'tokens',
    fallback: '256',
    description:
      'Chunked prefill: maximum number of prompt tokens per step while no answer is being decoded.',
    schema: wholeNumber(1, 65_536),
  }),
  mixedChunk: setting<number | undefined>({
    variable: 'ORTLER_MIXED_CHUNK',
    flag: '--mixed-chunk',
    valueName: 'tokens',
    fallback: undefined,
    shownFallback: '32, or 128 on a GPU',
    description:
      'Chunked prefill: maximum number of prompt tokens per step while answers are being decoded, fewer deep in a prompt. Smaller keeps inter-token latency (ITL) even, larger shortens the time to first token (TTFT).',
    schema: wholeNumber(1, 65_536),
  }),
  generationConfig: setting({
    variable: 'ORTLER_GENERATION_CONFIG',
    flag: '--generation-config',
    valueName: 'on or off',
    fallback: 'on',
    description:
      'Whether generation_config.json of the model gives the defaults of requests: temperature, top-p, penalties, maximum number of tokens. With off the defaults are neutral. Its end tokens (EOS) always apply.',
    schema: oneOf(['on', 'off']),
  }),
  prefixCache: setting({
    variable: 'ORTLER_PREFIX_CACHE',
    flag: '--prefix-cache',
    valueName: 'on or off',
    fallback: 'on',
    description:
      'Prefix caching: keeps the KV cache of prompts, so that later requests with the same prefix do not compute it again.',
    schema: oneOf(['on', 'off']),
  }),
  promptCacheScope: setting({
    variable: 'ORTLER_PROMPT_CACHE_SCOPE',
    flag: '--prompt-cache-scope',
    valueName: 'name',
    fallback: 'team',
    description:
      'Prefix caching: whether cached prompts are shared within a team only, or with server by all callers. A cache hit shows in the response time, so sharing tells others that a prompt was sent before.',
    schema: oneOf(['team', 'server']),
  }),
  cacheSlots: setting({
    variable: 'ORTLER_CACHE_SLOTS',
    flag: '--cache-slots',
    valueName: 'number',
    fallback: '4',
    description:
      'Prefix caching on the CPU: cache slots for finished prompts, in addition to those of running answers. Each takes as much memory as the longest prompt and answer it has held.',
    schema: wholeNumber(0, 1_024),
  }),
  cacheBytes: setting<number | undefined>({
    variable: 'ORTLER_CACHE_MEMORY',
    flag: '--cache-memory',
    valueName: 'size',
    fallback: undefined,
    shownFallback: 'the usable memory that the model leaves',
    description: 'Size of the KV cache of each model on a GPU: bytes, or a number with kb, mb or gb.',
    schema: byteSize(MEBIBYTE, 1_024 * 1_024 * MEBIBYTE),
  }),
  speculation: setting({
    variable: 'ORTLER_SPECULATION',
    flag: '--speculation',
    valueName: 'auto or off',
    fallback: 'auto',
    description:
      'Speculative decoding by prompt lookup, and jump-forward decoding of text that a constraint determines: several tokens per model call, used while that is faster. Answers are the same up to rounding.',
    schema: oneOf(['auto', 'off']),
  }),
} as const;
