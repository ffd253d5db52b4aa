// The rows of a feedback query, page after page; their number; and their counts by type and day.

import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { SortOrder } from '../components/data-table.tsx';
import { type ApiClient, useTRPCClient } from '../connection/api-client.ts';
import { type CountedRow, FeedbackTally } from './feedback-counts.ts';

export type FeedbackRow = Readonly<Record<string, unknown>>;
type Query = Parameters<ApiClient['feedback']['query']['query']>[0]['query'];

export interface FeedbackQuery {
  readonly project: string;
  readonly filter: Query;
  readonly sort: SortOrder | null;
}

const PAGE_LENGTH = 500;
/** Maximum number of rows of one answer. */
const COUNT_PAGE_LENGTH = 10_000;

export function useFeedbackRows({ project, filter, sort }: FeedbackQuery) {
  const client = useTRPCClient();
  return useInfiniteQuery({
    queryKey: ['feedback', project, filter, sort],
    enabled: project !== '',
    placeholderData: keepPreviousData,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      client.feedback.query.query(
        {
          project_id: project,
          query: filter,
          sort_by: [sort ?? { field: 'created_at', direction: 'desc' }],
          limit: PAGE_LENGTH,
          with_cursor: true,
          ...(pageParam !== null && { after: pageParam }),
        },
        { signal },
      ),
    getNextPageParam: page => page.next_after ?? undefined,
  });
}

export function useFeedbackCount({ project, filter }: FeedbackQuery) {
  const client = useTRPCClient();
  return useQuery({
    queryKey: ['feedback-count', project, filter],
    enabled: project !== '',
    queryFn: async ({ signal }) => {
      const request = { project_id: project, query: filter, fields: ['count(*)'] };
      const { result } = await client.feedback.query.query(request, { signal });
      return Number(result[0]?.['count(*)'] ?? 0);
    },
  });
}

/** Reads two columns of all matching rows; only once the person asks for it. */
export function useFeedbackTally({ project, filter }: FeedbackQuery, isWanted: boolean) {
  const client = useTRPCClient();
  return useQuery({
    queryKey: ['feedback-tally', project, filter],
    enabled: isWanted && project !== '',
    queryFn: async ({ signal }) => {
      const tally = new FeedbackTally();
      let after: string | null | undefined = null;
      do {
        const page: Awaited<ReturnType<ApiClient['feedback']['query']['query']>> =
          await client.feedback.query.query(
            {
              project_id: project,
              query: filter,
              fields: ['created_at', 'feedback_type'],
              limit: COUNT_PAGE_LENGTH,
              with_cursor: true,
              ...(after !== null && { after }),
            },
            { signal },
          );
        tally.add(page.result as readonly CountedRow[]);
        after = page.next_after;
      } while (after != null);
      return tally.counts();
    },
  });
}
