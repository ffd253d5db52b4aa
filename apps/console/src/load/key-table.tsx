// The API keys of the caller's team, or all of them for a key without a team. Never the keys themselves.

import { useQuery } from '@tanstack/react-query';
import { FailureNotice } from '../components/notice.tsx';
import { Badge } from '../components/ui/badge.tsx';
import { Panel } from '../components/ui/panel.tsx';
import { ScrollRegion } from '../components/ui/scroll-region.tsx';
import { TableHead } from '../components/ui/table-head.tsx';
import { useTRPC } from '../connection/api-client.ts';

const REFRESH_MS = 10_000;
const COLUMNS = ['Name', 'Id', 'Team', 'Created', 'Limits of its own'];
const cell = 'px-3 py-1 text-left whitespace-nowrap';

/** @param command How the operator runs a command of the server; undefined until it is known. */
export function KeyTable({ command }: { readonly command: string | undefined }) {
  const trpc = useTRPC();
  const { data, error } = useQuery(trpc.server.keys.queryOptions(undefined, { refetchInterval: REFRESH_MS }));
  return (
    <Panel title="Keys">
      {error !== null && <FailureNotice error={error} />}
      <ScrollRegion label="List of keys" className="max-h-72">
        <table className="w-full text-sm">
          <TableHead names={COLUMNS} cell={cell} />
          <tbody>
            {data?.keys.map(({ id, name, team, createdAt, limits }) => (
              <tr key={id} className="border-t">
                <th scope="row" className={`${cell} font-normal`}>
                  {name} {id === data.ownId && <Badge tone="good">this one</Badge>}
                </th>
                <td className={`${cell} font-mono text-xs`}>{id}</td>
                <td className={cell}>{team ?? 'none: sees all data'}</td>
                <td className={cell}>
                  {createdAt === null ? 'set when the server started' : new Date(createdAt).toLocaleString()}
                </td>
                <td className={cell}>{describeLimits(limits)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {command !== undefined && (
        <p className="border-t px-3 py-1.5 text-xs text-muted">
          <code>{command} keys create</code> and <code>{command} keys remove</code> change them.
        </p>
      )}
    </Panel>
  );
}

interface Limits {
  readonly requestsPerMinute?: number | null;
  readonly tokensPerMinute?: number | null;
  readonly concurrency?: number | null;
}

/** Absent: as all keys. Null: unlimited. */
function describeLimits({ requestsPerMinute, tokensPerMinute, concurrency }: Limits): string {
  const parts = [
    [requestsPerMinute, 'requests/min'],
    [tokensPerMinute, 'tokens/min'],
    [concurrency, 'at once'],
  ] as const;
  return parts
    .flatMap(([limit, unit]) =>
      limit === undefined ? [] : [`${limit?.toLocaleString() ?? 'unlimited'} ${unit}`],
    )
    .join(', ');
}
