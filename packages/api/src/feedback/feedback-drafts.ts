// Feedback of a request, checked as far as that needs no store: the same for input that a transport has parsed and for bodies that a
// thread has read.

import {
  type FeedbackCreateRequest,
  type FeedbackReplaceRequest,
  feedbackBatchCreateRequest,
  feedbackCreateRequest,
  feedbackReplaceRequest,
} from '@ortler/schemas';
import { Turns, WeightedSemaphore } from '@ortler/worker';
import { checkBody } from '../body/check-body.ts';
import { parseJsonBody } from '../body/parse-json-body.ts';
import { readBodyParts } from '../body/read-body-parts.ts';
import type { FeedbackBodyKind, FeedbackDraft, FeedbackDrafts } from '../ports/feedback-services.ts';
import { ApiError } from '../trpc/errors.ts';
import { toFeedbackContent } from './to-feedback-record.ts';

/** Objects of a body take up to fourteen times the memory of its text. Unit: bytes of text. */
const PARSED_BYTES = 32 * 1024 * 1024;
const parsing = new WeightedSemaphore(PARSED_BYTES);

/**
 * Reads the body of a route and frees its parts; of several large ones some wait before they are parsed. Throws: `invalid_input`,
 * `body_too_large`; the reason of the signal; what `body` throws.
 */
export async function readFeedbackDrafts(
  kind: FeedbackBodyKind,
  body: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<FeedbackDrafts> {
  const { parts, length } = await readBodyParts(body);
  return parsing.run(length, () => draftBody(kind, parts, signal));
}

async function draftBody(
  kind: FeedbackBodyKind,
  parts: readonly Uint8Array[],
  signal: AbortSignal | undefined,
): Promise<FeedbackDrafts> {
  const value = await parseJsonBody(parts, { style: 'detail', signal });
  if (kind === 'batch') return draftAll(checkBody(feedbackBatchCreateRequest, value).batch, signal);
  if (kind === 'create') return draftAll([checkBody(feedbackCreateRequest, value)], signal);
  return draftReplacement(checkBody(feedbackReplaceRequest, value));
}

export async function draftReplacement({
  feedback_id: replacedId,
  ...request
}: FeedbackReplaceRequest): Promise<FeedbackDrafts> {
  return { ...(await draftAll([request])), replacedId };
}

/** Drafts up to the first fault. Throws: the reason of the signal. */
export async function draftAll(
  requests: readonly FeedbackCreateRequest[],
  signal?: AbortSignal,
): Promise<FeedbackDrafts> {
  const drafts: FeedbackDraft[] = [];
  const turns = new Turns();
  for (const request of requests) {
    await turns.pause();
    signal?.throwIfAborted();
    const draft = await toDraft(request);
    drafts.push(draft);
    if ('fault' in draft) break;
  }
  return { drafts, replacedId: null };
}

async function toDraft(request: FeedbackCreateRequest): Promise<FeedbackDraft> {
  const { project_id: projectId } = request;
  try {
    return { projectId, content: await toFeedbackContent(request) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { projectId, fault: { message: error.message, param: error.param } };
  }
}
