// Settings of KV-cache events, which tell routers what prompts are cached. Caller: `../settings.ts`.

import { z } from 'zod';
import { EVENT_FORMATS } from '../../kv-events/encode-batch.ts';
import { parseTcpEndpoint, type TcpEndpoint } from '../../kv-events/tcp-endpoint.ts';
import { oneOf } from '../setting-values.ts';
import { setting } from './setting.ts';

export const KV_EVENT_SETTINGS = {
  kvEvents: setting<TcpEndpoint | undefined>({
    variable: 'ORTLER_KV_EVENTS',
    flag: '--kv-events',
    valueName: 'address',
    fallback: undefined,
    shownFallback: 'none',
    description:
      "KV-cache events in vLLM's form: ZeroMQ address that a PUB socket listens on, such as tcp://*:5557. Routers read there which prompts are cached, with their token ids and without a key: keep the port away from others.",
    schema: tcpEndpoint(),
  }),
  kvEventsReplay: setting<TcpEndpoint | undefined>({
    variable: 'ORTLER_KV_EVENTS_REPLAY',
    flag: '--kv-events-replay',
    valueName: 'address',
    fallback: undefined,
    shownFallback: 'none',
    description:
      'KV-cache events: ZeroMQ address that a ROUTER socket listens on, such as tcp://*:5558, for routers that missed batches.',
    schema: tcpEndpoint(),
  }),
  kvEventsTopic: setting({
    variable: 'ORTLER_KV_EVENTS_TOPIC',
    flag: '--kv-events-topic',
    valueName: 'text',
    fallback: '',
    shownFallback: 'empty',
    description: 'KV-cache events: topic of all messages. llm-d reads kv@<pod>@<model>.',
    schema: z.string().max(1_000, 'must have at most 1000 characters'),
  }),
  kvEventsFormat: setting({
    variable: 'ORTLER_KV_EVENTS_FORMAT',
    flag: '--kv-events-format',
    valueName: 'name',
    fallback: 'array',
    description:
      'KV-cache events: array, as vLLM up to 0.23 writes them and all routers read them, or map, as vLLM since 0.24.',
    schema: oneOf(EVENT_FORMATS),
  }),
} as const;

function tcpEndpoint(): z.ZodType<TcpEndpoint, string> {
  return z.string().transform((text, context) => {
    const endpoint = parseTcpEndpoint(text);
    if (endpoint !== null) return endpoint;
    context.addIssue({ code: 'custom', message: 'must be an address such as tcp://*:5557' });
    return z.NEVER;
  });
}
