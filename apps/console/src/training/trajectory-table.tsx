// The trajectories of a model, filtered by the server.

import { useCallback, useMemo, useState } from 'react';
import { type DataColumn, DataTable } from '../components/data-table.tsx';
import { FailureNotice } from '../components/notice.tsx';
import { Field } from '../components/ui/field.tsx';
import { Input } from '../components/ui/input.tsx';
import { Panel } from '../components/ui/panel.tsx';
import { TrajectoryView } from './trajectory-view.tsx';
import { type Trajectory, type TrajectoryFilter, useTrajectories } from './use-training.ts';

const COLUMNS: readonly DataColumn<Trajectory>[] = [
  { id: 'id', header: 'Id', width: 70, cell: ({ id }) => id, alignRight: true },
  { id: 'split', header: 'Split', width: 80, cell: ({ split }) => split },
  { id: 'step', header: 'Step', width: 60, cell: ({ step }) => step, alignRight: true },
  { id: 'reward', header: 'Reward', width: 80, cell: ({ reward }) => reward, alignRight: true },
  {
    id: 'metrics',
    header: 'Metrics',
    width: 260,
    cell: ({ metrics }) =>
      Object.entries(metrics)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
  },
  { id: 'group', header: 'Group', width: 70, cell: row => `${row.group_index}.${row.trajectory_index}` },
  { id: 'logged', header: 'Logged', width: 150, cell: row => row.logged_at.slice(0, 19).replace('T', ' ') },
];

const rowId = ({ id }: Trajectory) => id;
const FILTERS = [
  ['split', 'Split'],
  ['step', 'Step'],
  ['min_reward', 'Reward from'],
  ['max_reward', 'Reward to'],
] as const;
type FilterTexts = Readonly<Partial<Record<(typeof FILTERS)[number][0], string>>>;

export function TrajectoryTable({ modelId }: { readonly modelId: string }) {
  const [texts, setTexts] = useState<FilterTexts>({});
  const [opened, setOpened] = useState<Trajectory | null>(null);
  const { filter, faults } = useMemo(() => readFilter(texts), [texts]);
  const list = useTrajectories(modelId, filter);
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data]);
  const { fetchNextPage, isFetchingNextPage, hasNextPage } = list;
  const onMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [fetchNextPage, isFetchingNextPage]);
  return (
    <>
      <Panel
        title={
          <span role="status">
            Trajectories
            {rows.length > 0 && `: ${rows.length.toLocaleString('en')}${hasNextPage ? ' loaded' : ''}`}
          </span>
        }
      >
        <div className="flex flex-wrap gap-2 border-b px-3 py-2">
          {FILTERS.map(([name, label]) => (
            <Field key={name} label={label} error={faults[name]} className="w-28">
              {ids => (
                <Input
                  {...ids}
                  value={texts[name] ?? ''}
                  aria-invalid={faults[name] !== undefined}
                  onChange={({ target }) => setTexts({ ...texts, [name]: target.value })}
                />
              )}
            </Field>
          ))}
        </div>
        {list.isError && <FailureNotice error={list.error} />}
        <DataTable
          label="Trajectories"
          columns={COLUMNS}
          rows={rows}
          emptyText={list.isSuccess ? emptyTextOf(filter) : undefined}
          rowId={rowId}
          query={filter}
          onOpen={setOpened}
          openId={opened?.id ?? null}
          hasMore={hasNextPage}
          onMore={onMore}
          className="h-[22rem]"
        />
      </Panel>
      {opened !== null && <TrajectoryView trajectory={opened} onClose={() => setOpened(null)} />}
    </>
  );
}

function emptyTextOf(filter: TrajectoryFilter): string {
  return Object.keys(filter).length === 0
    ? 'No trajectory has been logged for this model.'
    : 'No trajectory matches.';
}

/** Empty fields filter nothing; a text that is not a number is named. */
function readFilter(texts: FilterTexts): {
  readonly filter: TrajectoryFilter;
  readonly faults: Readonly<Partial<Record<string, string>>>;
} {
  const filter: Record<string, string | number> = {};
  const faults: Record<string, string> = {};
  for (const [name, text] of Object.entries(texts)) {
    const trimmed = (text ?? '').trim();
    if (trimmed === '') continue;
    const value = Number(trimmed);
    if (name === 'split') filter.split = trimmed;
    else if (name === 'step' && !/^\d+$/.test(trimmed)) faults.step = 'A whole number';
    else if (Number.isNaN(value)) faults[name] = 'A number';
    else filter[name] = value;
  }
  return { filter, faults };
}
