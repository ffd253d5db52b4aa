// Counts by type and over time, read when they are opened.

import { lazy, Suspense, useState } from 'react';
import { FailureNotice, Notice } from '../components/notice.tsx';
import { type FeedbackQuery, useFeedbackTally } from './use-feedback.ts';

const Chart = lazy(() => import('../components/chart.tsx').then(({ Chart }) => ({ default: Chart })));

export function FeedbackSummary({ query }: { readonly query: FeedbackQuery }) {
  const [isOpen, setIsOpen] = useState(false);
  const tally = useFeedbackTally(query, isOpen);
  const { data } = tally;
  const most = data?.byType[0]?.[1] ?? 1;
  return (
    <details
      className="rounded-md border bg-raised"
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
    >
      <summary className="px-3 py-2 text-sm font-semibold">Counts by type and day</summary>
      {tally.isFetching && data === undefined && <Notice>Counting…</Notice>}
      {tally.isError && <FailureNotice error={tally.error} />}
      {data !== undefined && (
        <div className="grid grid-cols-1 gap-3 p-3 lg:grid-cols-2">
          <table className="h-min w-full text-sm">
            <caption className="sr-only">Feedback by type</caption>
            <tbody>
              {data.byType.map(([type, count]) => (
                <tr key={type}>
                  <th scope="row" className="pr-3 text-left font-normal wrap-anywhere">
                    {type}
                  </th>
                  <td className="w-1/2 max-sm:w-1/4">
                    <svg
                      viewBox="0 0 100 6"
                      preserveAspectRatio="none"
                      className="h-2 w-full"
                      aria-hidden="true"
                    >
                      <rect width={(count / most) * 100} height="6" className="fill-accent" />
                    </svg>
                  </td>
                  <td className="pl-3 text-right">{count.toLocaleString('en')}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <Suspense fallback={<Notice>Loading the chart…</Notice>}>
            <Chart
              label="Feedback per day"
              axis="time"
              xs={data.days}
              lines={[{ label: 'rows', values: data.perDay }]}
            />
          </Suspense>
        </div>
      )}
    </details>
  );
}
