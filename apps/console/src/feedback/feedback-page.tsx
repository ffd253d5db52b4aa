// The feedback explorer: a filter built by clicking or written as JSON, the rows that match, and what they add up to.

import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { DataTable, type SortOrder } from '../components/data-table.tsx';
import { downloadText, toCsv } from '../components/download.ts';
import { LazyJsonEditor } from '../components/lazy-json-editor.tsx';
import { FailureNotice, Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { printJson } from '../components/print-json.ts';
import { Button } from '../components/ui/button.tsx';
import { Field } from '../components/ui/field.tsx';
import { Input } from '../components/ui/input.tsx';
import { Panel } from '../components/ui/panel.tsx';
import { ScrollRegion } from '../components/ui/scroll-region.tsx';
import { useTRPC } from '../connection/api-client.ts';
import { FEEDBACK_COLUMNS, rowIdOf } from './feedback-columns.tsx';
import { FeedbackSummary } from './feedback-summary.tsx';
import { fieldsOf } from './field-info.ts';
import { GroupEditor } from './filter-builder.tsx';
import { FilterError, fromFilter, toFilter } from './filter-json.ts';
import { type FilterNode, type Group, group } from './filter-node.ts';
import { settleTypes } from './settle-types.ts';
import { type FeedbackRow, useFeedbackCount, useFeedbackRows } from './use-feedback.ts';

const PROJECT_STORAGE = 'ortler-feedback-project';
/** Payloads of all time are sampled for their paths. */
const SINCE = '1970-01-01T00:00:00Z';

export function FeedbackPage() {
  const [project, setProject] = useState(() => localStorage.getItem(PROJECT_STORAGE) ?? '');
  const [draft, setDraft] = useState(project);
  const [edited, setFilter] = useState<Group>(group('$and'));
  const [sort, setSort] = useState<SortOrder | null>(null);
  const [opened, setOpened] = useState<FeedbackRow | null>(null);
  const trpc = useTRPC();
  const paths = useQuery(
    trpc.feedback.payloadSchema.queryOptions(
      { project_id: project, start: SINCE },
      { enabled: project !== '' },
    ),
  );
  const fields = useMemo(() => fieldsOf(paths.data?.paths ?? []), [paths.data]);
  const filter = useMemo(() => settleTypes(edited, fields), [edited, fields]);
  const query = useMemo(() => ({ project, filter: toFilter(filter), sort }), [project, filter, sort]);
  const rows = useFeedbackRows(query);
  const count = useFeedbackCount(query);
  const loaded = useMemo(() => rows.data?.pages.flatMap(({ result }) => result) ?? [], [rows.data]);
  const { fetchNextPage, isFetchingNextPage, hasNextPage } = rows;
  const onMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [fetchNextPage, isFetchingNextPage]);

  const openProject = () => {
    localStorage.setItem(PROJECT_STORAGE, draft.trim());
    setProject(draft.trim());
    setOpened(null);
  };
  return (
    <Page
      title="Feedback"
      className="flex flex-col gap-3 p-4"
      actions={
        <form
          className="flex gap-2"
          onSubmit={event => {
            event.preventDefault();
            openProject();
          }}
        >
          <Input
            aria-label="Project"
            placeholder="entity/project"
            className="w-48"
            value={draft}
            onChange={({ target }) => setDraft(target.value)}
          />
          <Button type="submit">Open</Button>
        </form>
      }
    >
      {project === '' ? (
        <Notice>Name the project whose feedback you want to see, such as acme/app.</Notice>
      ) : (
        <>
          <FilterPanel filter={filter} fields={fields} onChange={setFilter} />
          {rows.isError && <FailureNotice error={rows.error} />}
          <FeedbackSummary query={query} />
          <Panel
            title={
              <span role="status">
                {count.data === undefined ? 'Rows' : `${count.data.toLocaleString('en')} rows`}
                {loaded.length < (count.data ?? 0) && `, ${loaded.length.toLocaleString('en')} loaded`}
              </span>
            }
            actions={<DownloadButtons rows={loaded} project={project} />}
          >
            <DataTable
              label="Feedback"
              columns={FEEDBACK_COLUMNS}
              rows={loaded}
              emptyText={
                rows.isSuccess && !rows.isPlaceholderData ? emptyTextOf(project, query.filter) : undefined
              }
              rowId={rowIdOf}
              query={query}
              totalCount={count.data}
              sort={sort}
              onSort={setSort}
              onOpen={setOpened}
              openId={opened === null ? null : rowIdOf(opened)}
              hasMore={hasNextPage}
              onMore={onMore}
              className="h-[26rem]"
            />
          </Panel>
          {opened !== null && (
            <Panel
              title={`Feedback ${rowIdOf(opened)}`}
              actions={
                <Button size="sm" variant="ghost" onClick={() => setOpened(null)}>
                  Close
                </Button>
              }
            >
              <ScrollRegion label="Feedback as JSON" className="max-h-96 p-3">
                <pre className="font-mono text-xs wrap-anywhere whitespace-pre-wrap">
                  {printJson(opened, 2)}
                </pre>
              </ScrollRegion>
            </Panel>
          )}
        </>
      )}
    </Page>
  );
}

interface FilterPanelProps {
  readonly filter: Group;
  readonly fields: ReturnType<typeof fieldsOf>;
  readonly onChange: (filter: Group) => void;
}

/** JSON as it was written, shown until the builder changes the filter. */
interface WrittenJson {
  readonly text: string;
  readonly filter: Group;
  readonly problem?: string;
}

/** The builder with its JSON beside it. Each follows the other; JSON that is not a filter changes nothing until it is one. */
function FilterPanel({ filter, fields, onChange }: FilterPanelProps) {
  const [written, setWritten] = useState<WrittenJson | null>(null);
  const isShown = written !== null && (written.problem !== undefined || written.filter === filter);
  const text = isShown ? written.text : printFilter(filter);
  const fromBuilder = (node: FilterNode) => {
    setWritten(null);
    onChange(asGroup(node));
  };
  const fromJson = (json: string) => {
    try {
      const next = json.trim() === '' ? group('$and') : asGroup(fromFilter(JSON.parse(json)));
      setWritten({ text: json, filter: next });
      onChange(next);
    } catch (error) {
      const problem =
        error instanceof FilterError || error instanceof SyntaxError ? error.message : String(error);
      setWritten({ text: json, filter, problem });
    }
  };
  return (
    <Panel title="Filter">
      <div className="grid gap-3 p-3 xl:grid-cols-[minmax(0,1fr)_26rem]">
        <GroupEditor node={filter} fields={fields} onChange={fromBuilder} />
        <Field label="As JSON" error={written?.problem}>
          {() => (
            <LazyJsonEditor
              label="Filter as JSON"
              value={text}
              onChange={json => json !== text && fromJson(json)}
            />
          )}
        </Field>
      </div>
    </Panel>
  );
}

function asGroup(node: FilterNode): Group {
  return node.kind === 'group' ? node : group('$and', node);
}

function emptyTextOf(project: string, filter: ReturnType<typeof toFilter>): string {
  return filter === undefined ? `There is no feedback in the project ${project}.` : 'No feedback matches.';
}

function printFilter(filter: Group): string {
  const json = toFilter(filter);
  return json === undefined ? '' : JSON.stringify(json, null, 2);
}

function DownloadButtons({
  rows,
  project,
}: {
  readonly rows: readonly FeedbackRow[];
  readonly project: string;
}) {
  const name = project.replaceAll('/', '-');
  const columns = [...new Set(rows.flatMap(row => Object.keys(row)))];
  return (
    <>
      <Button
        size="sm"
        disabled={rows.length === 0}
        onClick={() => downloadText(`${name}.csv`, 'text/csv', toCsv(columns, rows))}
      >
        CSV
      </Button>
      <Button
        size="sm"
        disabled={rows.length === 0}
        onClick={() => downloadText(`${name}.json`, 'application/json', printJson(rows, 2))}
      >
        JSON
      </Button>
    </>
  );
}
