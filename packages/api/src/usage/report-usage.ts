// A page of the usage report: one bucket per day, also for days without usage, as OpenAI's endpoint answers.

import type { UsageInput, UsagePage } from '@ortler/schemas';
import type { Principal, Services } from '../ports/services.ts';
import type { UsageSum } from '../ports/usage-services.ts';
import { ApiError } from '../trpc/errors.ts';

const DAY_MS = 86_400_000;

/**
 * The page that the caller asks for. A key of a team sees the usage of its team, a key without one that of all.
 * Throws: `forbidden` for another team.
 */
export async function reportUsage(
  { usage, now }: Pick<Services, 'usage' | 'now'>,
  caller: Principal,
  input: UsageInput,
): Promise<UsagePage> {
  const { team } = caller;
  if (team !== undefined && input.team_ids?.some(asked => asked !== team))
    throw new ApiError(
      'forbidden',
      `This key belongs to the team ${team}; it sees the usage of that team only.`,
      {
        param: 'team_ids',
      },
    );
  const endMs = input.end_time === undefined ? now() : input.end_time * 1_000;
  const startMs = input.page === undefined ? input.start_time * 1_000 : Date.parse(input.page);
  const days = listDays(startMs, endMs, input.limit);
  const last = days.at(-1);
  const isLast = last === undefined || last + DAY_MS >= endMs;
  const sums =
    last === undefined
      ? []
      : await usage.list({
          firstDay: toDay(days[0]!),
          lastDay: toDay(last),
          groups: input.group_by ?? [],
          keyIds: input.api_key_ids ?? [],
          teams: team === undefined ? (input.team_ids ?? []) : [team],
          projects: input.project_ids ?? [],
          models: input.models ?? [],
        });
  const sumsOfDay = Map.groupBy(sums, ({ day }) => day);
  return {
    object: 'page',
    data: days.map(dayMs => ({
      object: 'bucket',
      start_time: dayMs / 1_000,
      end_time: (dayMs + DAY_MS) / 1_000,
      results: (sumsOfDay.get(toDay(dayMs)) ?? []).map(toResult),
    })),
    has_more: !isLast,
    next_page: isLast ? null : toDay(last + DAY_MS),
  };
}

/** Starts of the days that overlap the time, in UTC. Unit: milliseconds since 1970. */
function listDays(startMs: number, endMs: number, limit: number): number[] {
  const days: number[] = [];
  for (let day = Math.floor(startMs / DAY_MS) * DAY_MS; day < endMs && days.length < limit; day += DAY_MS)
    days.push(day);
  return days;
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function toResult(sum: UsageSum): UsagePage['data'][number]['results'][number] {
  return {
    object: 'organization.usage.completions.result',
    num_model_requests: sum.requestCount,
    input_tokens: sum.inputTokenCount,
    input_cached_tokens: sum.cachedTokenCount,
    output_tokens: sum.outputTokenCount,
    api_key_id: sum.keyId,
    team: sum.team,
    project_id: sum.project,
    model: sum.model,
  };
}
