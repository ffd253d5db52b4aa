// POST /feedback/*: query feedback, discover payload schemas, create, replace and purge feedback. REST callers
// authenticate with Basic credentials; internal services call the same procedures over tRPC with either scheme.

import { randomBytes } from 'node:crypto';
import {
  type FeedbackBatchCreateResult,
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
import { nextTurn, Turns } from '@ortler/worker';
import type { z } from 'zod';
import { checkBody } from '../body/check-body.ts';
import { parseJsonBody } from '../body/parse-json-body.ts';
import { readBodyParts } from '../body/read-body-parts.ts';
import { answerQuery } from '../feedback/answer-query.ts';
import { checkAnnotation } from '../feedback/check-annotation.ts';
import { discoverPaths } from '../feedback/discover-paths.ts';
import { draftAll, draftReplacement } from '../feedback/feedback-drafts.ts';
import { readPurgeIds } from '../feedback/purge-ids.ts';
import { withQueryErrors } from '../feedback/query-error.ts';
import { createQueryQueue } from '../feedback/query-queue.ts';
import { checkText } from '../feedback/storable-json.ts';
import { completeRecord } from '../feedback/to-feedback-record.ts';
import { UuidV7Source } from '../feedback/uuid-v7.ts';
import { toWireMoment } from '../feedback/wire-moment.ts';
import type {
  FeedbackBodyKind,
  FeedbackDraft,
  FeedbackDrafts,
  FeedbackRecord,
  InsertedFeedback,
} from '../ports/feedback-services.ts';
import type { Services } from '../ports/services.ts';
import { requireProject, shareOf } from '../team.ts';
import { refuseLargeFaultyInput } from '../trpc/bounded-input.ts';
import { type BytesInput, bytesInput } from '../trpc/bytes-input.ts';
import { ApiError } from '../trpc/errors.ts';
import { orJsonText, toResult } from '../trpc/json-text.ts';
import { reportFaults } from '../trpc/report-faults.ts';
import { type CallerContext, createBasicProcedure, type ProcedureMeta, router } from '../trpc/trpc.ts';
import { createFeedbackAnnotationProcedures } from './feedback-annotations.ts';
import { feedbackRoute } from './feedback-route.ts';

/**
 * A longer body of a query is parsed when its team has its turn: of a team that asks for more than it gets, many leave before, and values
 * take several times the memory of their text. Unit: bytes.
 */
const LARGE_QUERY_BYTES = 32 * 1024;

/** Creates the feedback router. */
export function createFeedbackRouter(services: Services) {
  const { feedback, feedbackBodies, annotations, now } = services;
  const ids = new UuidV7Source(randomBytes);
  const queries = createQueryQueue(feedback);
  const queued = <Result>({ principal, signal, onReplyEnd }: CallerContext, work: () => Promise<Result>) =>
    queries.run({ share: shareOf(principal), signal, onReplyEnd }, work);
  const basic = createBasicProcedure(services).use(reportFaults);
  const procedure = <Schema extends z.ZodType>(schema: Schema, meta: ProcedureMeta) =>
    basic.use(refuseLargeFaultyInput(schema)).meta(meta).input(schema);

  const toRecord = async (draft: FeedbackDraft, { principal }: CallerContext) => {
    requireProject(principal, draft.projectId);
    if ('fault' in draft) {
      const { message, param } = draft.fault;
      throw new ApiError('invalid_parameter', message, { param });
    }
    const nowMs = now();
    const record = completeRecord(draft.content, {
      userId: principal.keyId,
      nowMs,
      newId: ids.next(nowMs),
    });
    await checkAnnotation(record, annotations, shareOf(principal)).catch(async (refusal: unknown) => {
      // A repeated write is no new one: its queue may have been closed since the first.
      const mayBeStored = draft.content.id !== null && refusal instanceof ApiError;
      if (!mayBeStored || !(await feedback.isStored(record))) throw refusal;
    });
    return record;
  };

  const createOne = async (ctx: CallerContext, { drafts: [draft] }: FeedbackDrafts) => {
    const record = await toRecord(draft!, ctx);
    const [inserted] = await feedback.insert([record]);
    return toResult<FeedbackCreateResult>(ctx, toBytes(createdText(record, inserted!)));
  };

  const createMany = async (ctx: CallerContext, { drafts }: FeedbackDrafts) => {
    const records: FeedbackRecord[] = [];
    // One by one, so that the error names the first invalid item.
    const turns = new Turns();
    for (const [index, draft] of drafts.entries()) {
      await turns.pause();
      records.push(
        await toRecord(draft, ctx).catch(error => {
          throw atItem(error, index);
        }),
      );
    }
    const inserted = await feedback.insert(records);
    const created = records.map((record, index) => createdText(record, inserted[index]!));
    return toResult<FeedbackBatchCreateResult>(ctx, toBytes(`{"res":[${created.join()}]}`));
  };

  const replaceOne = async (ctx: CallerContext, { drafts: [draft], replacedId }: FeedbackDrafts) => {
    checkText(replacedId!, 'feedback_id');
    const record = await toRecord(draft!, ctx);
    const inserted = await feedback.replace(replacedId!, record);
    return toResult<FeedbackCreateResult>(ctx, toBytes(createdText(record, inserted)));
  };

  const toQueryResult = (ctx: CallerContext, answer: () => Promise<readonly Uint8Array<ArrayBuffer>[]>) =>
    withQueryErrors(async () => toResult<FeedbackQueryResult>(ctx, ...(await queued(ctx, answer))));

  const readBody = (kind: FeedbackBodyKind, { signal }: CallerContext, { body }: BytesInput) =>
    feedbackBodies.read(kind, body, signal);
  const bytes = basic.meta({ auth: 'basic', errors: 'detail' }).input(bytesInput);

  return router({
    annotations: createFeedbackAnnotationProcedures(services),

    query: procedure(feedbackQueryRequest, {
      ...feedbackRoute('/feedback/query', 'queryFeedback', 'Find feedback'),
      bytesProcedure: 'feedback.queryBytes',
    })
      .output(orJsonText(feedbackQueryResult))
      .query(async ({ ctx, input }) => {
        requireProject(ctx.principal, input.project_id);
        return toQueryResult(ctx, () => answerQuery(feedback, input, ctx.signal));
      }),

    queryBytes: bytes.output(orJsonText(feedbackQueryResult)).query(async ({ ctx, input }) => {
      const { parts, length } = await readBodyParts(input.body);
      const isLarge = length > LARGE_QUERY_BYTES;
      const parse = async () => {
        const value = await parseJsonBody(parts, { style: 'detail', signal: ctx.signal });
        if (isLarge) await nextTurn();
        const request = checkBody(feedbackQueryRequest, value);
        requireProject(ctx.principal, request.project_id);
        if (isLarge) await nextTurn();
        return request;
      };
      const request = isLarge ? null : await parse();
      return toQueryResult(ctx, async () => answerQuery(feedback, request ?? (await parse()), ctx.signal));
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

    create: procedure(feedbackCreateRequest, {
      ...feedbackRoute('/feedback/create', 'createFeedback', 'Store feedback', ['conflict']),
      bytesProcedure: 'feedback.createBytes',
    })
      .output(orJsonText(feedbackCreateResult))
      .mutation(async ({ ctx, input }) => createOne(ctx, await draftAll([input], ctx.signal))),

    createBytes: bytes
      .output(orJsonText(feedbackCreateResult))
      .mutation(async ({ ctx, input }) => createOne(ctx, await readBody('create', ctx, input))),

    createBatch: procedure(feedbackBatchCreateRequest, {
      ...feedbackRoute(
        '/feedback/batch/create',
        'createFeedbackBatch',
        'Store several pieces of feedback, all or none',
        ['conflict'],
      ),
      bytesProcedure: 'feedback.createBatchBytes',
    })
      .output(orJsonText(feedbackBatchCreateResult))
      .mutation(async ({ ctx, input }) => createMany(ctx, await draftAll(input.batch, ctx.signal))),

    createBatchBytes: bytes
      .output(orJsonText(feedbackBatchCreateResult))
      .mutation(async ({ ctx, input }) => createMany(ctx, await readBody('batch', ctx, input))),

    replace: procedure(feedbackReplaceRequest, {
      ...feedbackRoute('/feedback/replace', 'replaceFeedback', 'Store feedback in the place of another one', [
        'conflict',
      ]),
      bytesProcedure: 'feedback.replaceBytes',
    })
      .output(orJsonText(feedbackCreateResult))
      .mutation(async ({ ctx, input }) => replaceOne(ctx, await draftReplacement(input))),

    replaceBytes: bytes
      .output(orJsonText(feedbackCreateResult))
      .mutation(async ({ ctx, input }) => replaceOne(ctx, await readBody('replace', ctx, input))),

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

/** The error of an item of a batch, with its place where the item is wrong. */
function atItem(error: unknown, index: number): unknown {
  if (!(error instanceof ApiError) || error.reason !== 'invalid_parameter') return error;
  const place = `batch.${index}`;
  const param = error.param === null ? place : `${place}.${error.param}`;
  return new ApiError(error.reason, `${error.message} (at ${place})`, { param, cause: error });
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
