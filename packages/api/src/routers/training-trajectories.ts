// Procedures of trajectories: log, list by pages, export as a stream, metrics per split.

import { stringifyLosslessJson } from '@ortler/json';
import {
  modelIdParameter,
  splitMetrics,
  splitMetricsInput,
  type TrajectoryExportInput,
  trajectoryExportInput,
  trajectoryList,
  trajectoryListInput,
  trajectoryLogInput,
  trajectoryLogResult,
} from '@ortler/schemas';
import type { Services } from '../ports/services.ts';
import type { TrajectoryFilter } from '../ports/training-services.ts';
import { findModel } from '../training/find-model.ts';
import { logTrajectories } from '../training/log-trajectories.ts';
import { toSplitMetrics, toTrajectoryItem, toTrajectoryLine } from '../training/to-wire.ts';
import { bytesInput } from '../trpc/bytes-input.ts';
import { chunkStream } from '../trpc/chunk-stream.ts';
import { documentedInput } from '../trpc/documented-input.ts';
import { readRawInput } from '../trpc/raw-input.ts';
import { invalidInput, reportFaults } from '../trpc/report-faults.ts';
import { logRequestHeaders, requestHeaders } from '../trpc/request-headers.ts';
import { createBearerProcedure, router } from '../trpc/trpc.ts';

const lines = chunkStream<string>();

/** Page size of an export; the store returns fewer trajectories when they are large. */
const STREAM_PAGE = 100;

const tags = ['trajectories'];
const common = { auth: 'bearer', errors: 'detail', fails: ['not_found'] } as const;

export function createTrajectoryProcedures(services: Services) {
  const { trajectories } = services.training;
  const procedure = createBearerProcedure(services).use(reportFaults);

  async function* streamLines(modelId: string, input: TrajectoryExportInput): AsyncGenerator<string> {
    const filter = toFilter(input);
    let afterPosition = toPosition(input.after);
    for (;;) {
      const page = await trajectories.list(modelId, filter, { afterPosition, limit: STREAM_PAGE });
      for (const stored of page.trajectories) {
        yield toTrajectoryLine(stored);
        afterPosition = stored.position;
      }
      if (!page.hasMore) return;
    }
  }

  return router({
    log: procedure
      .meta({
        ...common,
        bytesProcedure: 'training.trajectories.logBytes',
        hasLongBody: true,
        openapi: {
          method: 'POST',
          path: '/v1/preview/models/{model_id}/log',
          operationId: 'logTrajectories',
          tags,
          requestHeaders: logRequestHeaders,
          summary: 'Log groups of trajectories',
          description:
            'Stores all groups or none, and replies when they are durable. Unknown keys are kept. ' +
            'Metrics are averaged and appear as `<split>/<metric>` on the checkpoint of the step.',
        },
      })
      // The body is read from JSON text as for REST, so that both transports store and refuse the same.
      .input(documentedInput(trajectoryLogInput, { model_id: modelIdParameter }))
      .output(trajectoryLogResult)
      .mutation(async ({ ctx, input }) => {
        const { model_id: _, ...body } = await readRawInput(ctx);
        return logTrajectories(services, ctx, input.model_id, toBytes(toJsonText(body)));
      }),

    logBytes: procedure
      .meta(common)
      .input(bytesInput)
      .output(trajectoryLogResult)
      .mutation(({ ctx, input }) => logTrajectories(services, ctx, input.params.model_id ?? '', input.body)),

    list: procedure
      .meta({
        ...common,
        openapi: {
          method: 'GET',
          path: '/v1/preview/models/{model_id}/trajectories',
          operationId: 'listTrajectories',
          tags,
          requestHeaders,
          summary: 'List the logged trajectories of a model by pages',
          description:
            'In the order of logging. Keyset pagination by `after` returns each trajectory exactly once.',
        },
      })
      .input(trajectoryListInput)
      .output(trajectoryList)
      .query(async ({ ctx, input }) => {
        const { id } = await findModel(services, ctx.principal, input.model_id);
        const page = await trajectories.list(id, toFilter(input), {
          afterPosition: toPosition(input.after),
          limit: input.limit,
        });
        const data = page.trajectories.map(toTrajectoryItem);
        return {
          object: 'list' as const,
          data,
          has_more: page.hasMore,
          first_id: data[0]?.id ?? '',
          last_id: data.at(-1)?.id ?? '',
        };
      }),

    export: procedure
      .meta({
        ...common,
        lines: true,
        openapi: {
          method: 'GET',
          path: '/v1/preview/models/{model_id}/trajectories/export',
          operationId: 'exportTrajectories',
          tags,
          requestHeaders,
          summary: 'Stream the logged trajectories of a model as JSON lines',
        },
      })
      .input(trajectoryExportInput)
      .output(lines)
      .query(async ({ ctx, input }) =>
        streamLines((await findModel(services, ctx.principal, input.model_id)).id, input),
      ),

    metrics: procedure
      .meta({
        ...common,
        openapi: {
          method: 'GET',
          path: '/v1/preview/models/{model_id}/metrics',
          operationId: 'listSplitMetrics',
          tags,
          requestHeaders,
          summary: 'List the metrics of each split by step',
        },
      })
      .input(splitMetricsInput)
      .output(splitMetrics)
      .query(async ({ ctx, input }) => {
        const { id } = await findModel(services, ctx.principal, input.model_id);
        return toSplitMetrics(await trajectories.listMetrics(id, { split: input.split ?? null }));
      }),
  });
}

function toFilter(input: TrajectoryExportInput): TrajectoryFilter {
  return {
    split: input.split ?? null,
    step: input.step ?? null,
    minReward: input.min_reward ?? null,
    maxReward: input.max_reward ?? null,
    loggedFromMs: input.logged_from === undefined ? null : Date.parse(input.logged_from),
    loggedBeforeMs: input.logged_before === undefined ? null : Date.parse(input.logged_before),
  };
}

/** 0 without a cursor: positions start at 1. */
function toPosition(after: string | undefined): number {
  return after === undefined ? 0 : Number(after);
}

async function* toBytes(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** Throws: `invalid_input` for a number that JSON has not, of a caller in the same process. */
function toJsonText(value: unknown): string {
  try {
    return stringifyLosslessJson(value);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw invalidInput([{ loc: ['body'], msg: `Value error, ${cause.message}`, type: 'value_error' }]);
  }
}
