// What the training endpoints hold: models, their trajectories, metrics and checkpoints.

import type { AppRouter } from '@ortler/api';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { type ApiClient, useTRPCClient } from '../connection/api-client.ts';

type Outputs = inferRouterOutputs<AppRouter>['training'];
export type Trajectory = Outputs['trajectories']['list']['data'][number];
export type TrainingModel = Outputs['models']['list']['data'][number];
export type Checkpoint = Outputs['checkpoints']['list']['data'][number];

export interface TrajectoryFilter {
  readonly split?: string;
  readonly step?: number;
  readonly min_reward?: number;
  readonly max_reward?: number;
}

const PAGE_LENGTH = 100;
/** While training goes on, curves grow. */
const REFRESH_MS = 10_000;

interface Page<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly last_id: string;
}

/** All items of a list that comes in pages. */
async function readAll<Item>(
  read: (after: string | undefined) => Promise<Page<Item>>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await read(after);
    items.push(...page.data);
    if (!page.has_more) return items;
    after = page.last_id;
  }
}

export function useTrainingModels() {
  const client = useTRPCClient();
  return useQuery({
    queryKey: ['training-models'],
    queryFn: ({ signal }) =>
      readAll<TrainingModel>(after =>
        client.training.models.list.query(
          { limit: PAGE_LENGTH, order: 'desc', ...(after !== undefined && { after }) },
          { signal },
        ),
      ),
  });
}

export function useCheckpoints(model_id: string) {
  const client = useTRPCClient();
  return useQuery({
    queryKey: ['checkpoints', model_id],
    refetchInterval: REFRESH_MS,
    queryFn: ({ signal }) =>
      readAll<Checkpoint>(after =>
        client.training.checkpoints.list.query(
          { model_id, limit: PAGE_LENGTH, ...(after !== undefined && { after }) },
          { signal },
        ),
      ),
  });
}

export function useSplitMetrics(model_id: string) {
  const client = useTRPCClient();
  return useQuery({
    queryKey: ['split-metrics', model_id],
    refetchInterval: REFRESH_MS,
    queryFn: ({ signal }) => client.training.trajectories.metrics.query({ model_id }, { signal }),
  });
}

export function useTrajectories(model_id: string, filter: TrajectoryFilter) {
  const client: ApiClient = useTRPCClient();
  return useInfiniteQuery({
    queryKey: ['trajectories', model_id, filter],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      client.training.trajectories.list.query(
        { model_id, ...filter, limit: PAGE_LENGTH, after: pageParam },
        { signal },
      ),
    getNextPageParam: page => (page.has_more ? page.last_id : undefined),
  });
}
