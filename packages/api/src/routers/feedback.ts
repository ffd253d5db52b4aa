// POST /feedback/*: query feedback, discover payload schemas, create, replace and purge feedback. REST callers
// authenticate with Basic credentials; internal services call the same procedures over tRPC with either scheme.

import { randomBytes } from 'node:crypto';
import {
  type FeedbackBatchCreateResult,
  type FeedbackCreateRequest,
  type FeedbackCreateResult,
  type FeedbackPayloadSchemaResult,
  type FeedbackQueryResult,
  feedbackBatchCreateRequest,
  feedbackBatchCreateResult,
  feedbackCreateRequest,
  feedbackCreateResult,
  feedbackPayloadSchemaRequest,
  feedbackPayloadSchemaResult,
  feedbackPurgeRequest,
  feedbackPurgeResult,
  feedbackQueryRequest,
  feedbackQueryResult,
  feedbackReplaceRequest,
} from '@ortler/schemas';
import { Turns } from '@ortler/worker';
import type { z } from 'zod';
import { answerQuery } from '../feedback/answer-query.ts';
import { checkAnnotation } from '../feedback/check-annotation.ts';
import { discoverPaths } from '../feedback/discover-paths.ts';
import { readPurgeIds } from '../feedback/purge-ids.ts';
import { withQueryErrors } from '../feedback/query-error.ts';
import { createQueryQueue } from '../feedback/query-queue.ts';
import { checkText } from '../feedback/storable-json.ts';
import { toFeedbackRecord } from '../feedback/to-feedback-record.ts';
import { UuidV7Source } from '../feedback/uuid-v7.ts';
import { toWireMoment } from '../feedback/wire-moment.ts';
import type { FeedbackRecord, InsertedFeedback } from '../ports/feedback-services.ts';
import type { Principal, Services } from '../ports/services.ts';
import { requireProject, shareOf } from '../team.ts';
import { refuseLargeFaultyInput } from '../trpc/bounded-input.ts';
import { orJsonText, toResult } from '../trpc/json-text.ts';
import { reportFaults } from '../trpc/report-faults.ts';
import { type CallerContext, createBasicProcedure, type ProcedureMeta, router } from '../trpc/trpc.ts';
import { createFeedbackAnnotationProcedures } from './feedback-annotations.ts';
import { feedbackRoute } from './feedback-route.ts';

/** Creates the feedback router. */
export function createFeedbackRouter(services: Services) {
  const { feedback, annotations, now } = services;
  const ids = new UuidV7Source(randomBytes);
  const queries = createQueryQueue(feedback);
  const queued = <Result>({ principal, signal, onReplyEnd }: CallerContext, work: () => Promise<Result>) =>
    queries.run({ share: shareOf(principal), signal, onReplyEnd }, work);
  const basic = createBasicProcedure(services).use(reportFaults);
  const procedure = <Schema extends z.ZodType>(schema: Schema, meta: ProcedureMeta) =>
    basic.use(refuseLargeFaultyInput(schema)).meta(meta).input(schema);

  const toRecord = async (request: FeedbackCreateRequest, caller: Principal) => {
    requireProject(caller, request.project_id);
    const nowMs = now();
    const newId = ids.next(nowMs);
    const record = await toFeedbackRecord(request, { userId: caller.keyId, nowMs, newId });
    await checkAnnotation(request, annotations);
    return record;
  };

  return router({
    annotations: createFeedbackAnnotationProcedures(services),

    query: procedure(feedbackQueryRequest, feedbackRoute('/feedback/query', 'queryFeedback', 'Find feedback'))
      .output(orJsonText(feedbackQueryResult))
      .query(({ ctx, input }) => {
        requireProject(ctx.principal, input.project_id);
        return withQueryErrors(async () =>
          toResult<FeedbackQueryResult>(
            ctx,
            await queued(ctx, () => answerQuery(feedback, input, ctx.signal)),
          ),
        );
      }),

    payloadSchema: procedure(
      feedbackPayloadSchemaRequest,
      feedbackRoute(
        '/feedback/payload_schema',
        'discoverFeedbackPayloadSchema',
        'List the paths and value types of feedback payloads',
      ),
    )
      .output(orJsonText(feedbackPayloadSchemaResult))
      .query(({ ctx, input }) =>
        withQueryErrors(async () => {
          requireProject(ctx.principal, input.project_id);
          const sample = {
            projectId: input.project_id,
            startMs: Date.parse(input.start),
            endMs: input.end == null ? now() : Date.parse(input.end),
            feedbackType: input.feedback_type ?? null,
            triggerRef: input.trigger_ref ?? null,
            sampleLimit: input.sample_limit,
          };
          return toResult<FeedbackPayloadSchemaResult>(
            ctx,
            await queued(ctx, () => discoverPaths(feedback.samplePayloads(sample, ctx.signal), ctx.signal)),
          );
        }),
      ),

    create: procedure(
      feedbackCreateRequest,
      feedbackRoute('/feedback/create', 'createFeedback', 'Store feedback', ['conflict']),
    )
      .output(orJsonText(feedbackCreateResult))
      .mutation(async ({ ctx, input }) => {
        const record = await toRecord(input, ctx.principal);
        const [inserted] = await feedback.insert([record]);
        return toResult<FeedbackCreateResult>(ctx, toBytes(createdText(record, inserted!)));
      }),

    createBatch: procedure(
      feedbackBatchCreateRequest,
      feedbackRoute(
        '/feedback/batch/create',
        'createFeedbackBatch',
        'Store several pieces of feedback, all or none',
        ['conflict'],
      ),
    )
      .output(orJsonText(feedbackBatchCreateResult))
      .mutation(async ({ ctx, input }) => {
        const records: FeedbackRecord[] = [];
        // One by one, so that the error names the first invalid item.
        const turns = new Turns();
        for (const request of input.batch) {
          await turns.pause();
          records.push(await toRecord(request, ctx.principal));
        }
        const inserted = await feedback.insert(records);
        const created = records.map((record, index) => createdText(record, inserted[index]!));
        return toResult<FeedbackBatchCreateResult>(ctx, toBytes(`{"res":[${created.join()}]}`));
      }),

    replace: procedure(
      feedbackReplaceRequest,
      feedbackRoute('/feedback/replace', 'replaceFeedback', 'Store feedback in the place of another one', [
        'conflict',
      ]),
    )
      .output(orJsonText(feedbackCreateResult))
      .mutation(async ({ ctx, input }) => {
        const { feedback_id, ...request } = input;
        checkText(feedback_id, 'feedback_id');
        const record = await toRecord(request, ctx.principal);
        const inserted = await feedback.replace(feedback_id, record);
        return toResult<FeedbackCreateResult>(ctx, toBytes(createdText(record, inserted)));
      }),

    purge: procedure(
      feedbackPurgeRequest,
      feedbackRoute('/feedback/purge', 'purgeFeedback', 'Remove feedback by id'),
    )
      .output(feedbackPurgeResult)
      .mutation(({ ctx, input }) =>
        withQueryErrors(async () => {
          requireProject(ctx.principal, input.project_id);
          checkText(input.project_id, 'project_id');
          await feedback.delete(input.project_id, readPurgeIds(input.query));
          return {};
        }),
      ),
  });
}

/** JSON of a `FeedbackCreateResult`. The payload is text already; to parse and print it would block the event loop. */
function createdText(
  { id, payload_dump: payload }: FeedbackRecord,
  { createdAtMs, userId }: InsertedFeedback,
): string {
  const known = JSON.stringify({ id, created_at: toWireMoment(createdAtMs), wb_user_id: userId });
  return `${known.slice(0, -1)},"payload":${payload}}`;
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
