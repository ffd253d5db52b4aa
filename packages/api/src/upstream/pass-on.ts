// Passes a checked request on to the servers of its model. Every refusal happens before a transport sends a status line.

import { prefixKey } from '@ortler/upstream';
import type { CheckedChat } from '../chat/start-generation.ts';
import { callId } from '../generation/answer-name.ts';
import { toUsingCaller } from '../generation/generation-usage.ts';
import { servedId } from '../generation/ready-engine.ts';
import { readUsageMode } from '../generation/to-usage.ts';
import { upstreamOf } from '../generation/upstream-of.ts';
import type { ServedModel, Services, UpstreamModel } from '../ports/services.ts';
import type { CallerContext } from '../trpc/trpc.ts';
import { findError, fromUpstreamError } from './from-upstream-error.ts';
import {
  asReply,
  CHAT_SHAPE,
  choicesOf,
  completeReply,
  type Fields,
  type ReplyNames,
  type ReplyShape,
} from './reply-shape.ts';
import { type JsonObject, toCacheSalt, toUpstreamBody } from './to-upstream-body.ts';
import { toTraceHeaders } from './trace-headers.ts';
import { UpstreamChunks } from './upstream-chunks.ts';
import { outcomeOf, UpstreamReport } from './upstream-report.ts';
import { estimateAnswerTokens, estimatePromptTokens, readUsage } from './upstream-usage.ts';

export interface PassedRequest {
  readonly model: ServedModel;
  readonly upstream: UpstreamModel;
  /** Below the servers' base addresses. */
  readonly path: 'chat/completions' | 'completions';
  readonly shape: ReplyShape;
  /** Id of the answer. */
  readonly id: string;
  /** The body as the caller sent it. */
  readonly given: JsonObject;
  /** What the schema read from it. */
  readonly read: {
    readonly stream_options?: Parameters<typeof readUsageMode>[0];
    readonly cache_salt?: string | null | undefined;
  };
  readonly choiceCount: number;
  readonly maxTokens: number | null;
}

type PassingServices = Pick<
  Services,
  'generations' | 'now' | 'limits' | 'usage' | 'promptCacheScope' | 'toolCalling'
>;

/** A chat whose model other servers answer for; undefined: an engine of this server does. @param given Its body as it came. */
export function toPassedChat(
  { request, model, id }: CheckedChat,
  given: JsonObject,
): PassedRequest | undefined {
  const upstream = upstreamOf(model);
  if (upstream === undefined) return undefined;
  return {
    model,
    upstream,
    path: 'chat/completions',
    shape: CHAT_SHAPE,
    id,
    given,
    read: request,
    choiceCount: request.n,
    maxTokens: request.max_completion_tokens ?? request.max_tokens ?? null,
  };
}

/** The whole answer. Throws: `ApiError`. */
export async function passOnForReply(
  services: PassingServices,
  context: CallerContext,
  passed: PassedRequest,
): Promise<Fields> {
  const { upstream, shape } = passed;
  const { signal } = context;
  const report = startReport(services, context, passed);
  const names = namesOf(services, passed);
  try {
    const reply = asReply(await upstream.postForJson(toSent(services, context, passed, false)));
    const failure = findError(reply, names.model, upstream.withoutKey);
    if (failure !== undefined) throw failure;
    completeReply(reply, names, shape);
    for (const { finish_reason: reason } of choicesOf(reply))
      if (typeof reason === 'string') report.finish(reason);
    const usage = readUsage(reply.usage);
    if (usage !== undefined) report.tell(usage);
    else {
      const completionTokenCount = estimateAnswerTokens(choicesOf(reply), shape);
      report.tell({ ...report.usage, completionTokenCount });
      reply.usage = toUsageObject(report.usage);
    }
    await report.end('finished');
    return reply;
  } catch (error) {
    await report.end(outcomeOf(error, signal));
    throw fromUpstreamError(error, names.model, signal);
  }
}

/** The chunks, once the first has come. Throws: `ApiError`. */
export async function passOnForChunks(
  services: PassingServices,
  context: CallerContext,
  passed: PassedRequest,
): Promise<UpstreamChunks> {
  const { upstream, shape, read } = passed;
  const { signal } = context;
  const report = startReport(services, context, passed);
  const names = namesOf(services, passed);
  const sent = toSent(services, context, passed, true);
  const events = await upstream.postForEvents(sent).catch(async (error: unknown) => {
    await report.end(outcomeOf(error, signal));
    throw fromUpstreamError(error, names.model, signal);
  });
  const withUsage = readUsageMode(read.stream_options) !== 'none';
  const { withoutKey } = upstream;
  return UpstreamChunks.start({ events, names, shape, withUsage, report, withoutKey, signal });
}

function namesOf({ now }: PassingServices, { id, model }: PassedRequest): ReplyNames {
  return { id, model: servedId(model), created: Math.floor(now() / 1000) };
}

function startReport(
  services: PassingServices,
  context: CallerContext,
  { model, given, choiceCount, maxTokens }: PassedRequest,
): UpstreamReport {
  const caller = toUsingCaller(context);
  const promptTokenCount = estimatePromptTokens(given);
  return new UpstreamReport({
    services,
    caller,
    modelId: servedId(model),
    choiceCount,
    maxTokens,
    promptTokenCount,
  });
}

function toSent(
  { toolCalling, promptCacheScope }: PassingServices,
  context: CallerContext,
  { upstream, path, given, read }: PassedRequest,
  stream: boolean,
) {
  const { principal, signal } = context;
  const cacheSalt = toCacheSalt(principal, read.cache_salt, promptCacheScope);
  return {
    path,
    body: toUpstreamBody({ given, model: upstream.name, stream, toolCalling, cacheSalt }),
    // One id in the logs of both servers. vLLM refuses a second request with the id of one that runs.
    headers: { 'x-request-id': callId(context), ...toTraceHeaders(context) },
    key: prefixKey(given),
    signal,
  };
}

function toUsageObject({ promptTokenCount, completionTokenCount }: UpstreamReport['usage']): Fields {
  return {
    prompt_tokens: promptTokenCount,
    total_tokens: promptTokenCount + completionTokenCount,
    completion_tokens: completionTokenCount,
  };
}
