// Validates a create request and maps it to the record to store.

import {
  type FeedbackCreateRequest,
  fitsIntoBytes,
  MAX_FEEDBACK_ID_LENGTH,
  MAX_FEEDBACK_TEXT_LENGTH,
  MAX_INDEXED_BYTES,
} from '@ortler/schemas';
import type { FeedbackContent, FeedbackRecord } from '../ports/feedback-services.ts';
import { ApiError } from '../trpc/errors.ts';
import { checkFeedbackType } from './check-feedback-type.ts';
import { checkText, toPayloadDump, toStorable } from './storable-json.ts';

/** The caller and the time of a request. */
export interface RecordContext {
  readonly userId: string;
  /** Unit: milliseconds since 1970. */
  readonly nowMs: number;
  /** Id for a request without one. */
  readonly newId: string;
}

/** Throws: `invalid_parameter` with the first violated rule. */
export async function toFeedbackRecord(
  request: FeedbackCreateRequest,
  context: RecordContext,
): Promise<FeedbackRecord> {
  return completeRecord(await toFeedbackContent(request), context);
}

export function completeRecord(
  content: FeedbackContent,
  { userId, nowMs, newId }: RecordContext,
): FeedbackRecord {
  return { ...content, id: content.id ?? newId, wb_user_id: userId, created_at_ms: nowMs };
}

/** Throws: `invalid_parameter` with the first violated rule. */
export async function toFeedbackContent(request: FeedbackCreateRequest): Promise<FeedbackContent> {
  checkTexts(request);
  const payload = checkFeedbackType(request);
  const payloadDump = await toPayloadDump(payload);
  return {
    id: request.id ?? null,
    project_id: request.project_id,
    weave_ref: request.weave_ref,
    creator: request.creator ?? null,
    feedback_type: request.feedback_type,
    payload_dump: payloadDump,
    annotation_ref: request.annotation_ref ?? null,
    runnable_ref: request.runnable_ref ?? null,
    call_ref: request.call_ref ?? null,
    trigger_ref: request.trigger_ref ?? null,
    queue_id: request.queue_id ?? null,
    scorer_tags: toStorable(request.scorer_tags ?? [], 'scorer_tags'),
    scorer_tag_reasons: toStorable(request.scorer_tag_reasons ?? {}, 'scorer_tag_reasons'),
    scorer_tag_confidences: toStorable(request.scorer_tag_confidences ?? {}, 'scorer_tag_confidences'),
    scorer_ratings: toStorable(request.scorer_ratings ?? {}, 'scorer_ratings'),
    scorer_rating_reasons: toStorable(request.scorer_rating_reasons ?? {}, 'scorer_rating_reasons'),
    scorer_rating_confidences: toStorable(
      request.scorer_rating_confidences ?? {},
      'scorer_rating_confidences',
    ),
    span_agent_name: request.span_agent_name ?? '',
    span_agent_version: request.span_agent_version ?? '',
    span_status_code: request.span_status_code ?? 'UNSET',
    span_conversation_id: request.span_conversation_id ?? '',
    span_trace_id: request.span_trace_id ?? '',
    scorer_trace_id: request.scorer_trace_id ?? '',
  };
}

function checkTexts(request: FeedbackCreateRequest): void {
  const { id } = request;
  if (id != null && (id === '' || id.length > MAX_FEEDBACK_ID_LENGTH))
    throw refusal('id', `id must have 1 to ${MAX_FEEDBACK_ID_LENGTH} characters`);
  for (const name of ['project_id', 'weave_ref', 'feedback_type'] as const)
    if (request[name] === '') throw refusal(name, `${name} must not be empty`);
  for (const [name, value] of Object.entries(request)) {
    if (typeof value !== 'string') continue;
    checkText(value, name);
    if (value.length > MAX_FEEDBACK_TEXT_LENGTH)
      throw refusal(name, `${name} must have at most ${MAX_FEEDBACK_TEXT_LENGTH} characters`);
  }
  for (const [name, maxBytes] of Object.entries(MAX_INDEXED_BYTES))
    if (!fitsIntoBytes(request[name as keyof typeof MAX_INDEXED_BYTES] ?? '', maxBytes))
      throw refusal(name, `${name} must have at most ${maxBytes} bytes in UTF-8`);
}

function refusal(param: string, message: string): ApiError {
  return new ApiError('invalid_parameter', message, { param });
}
