// biome-ignore-all lint/a11y/useSemanticElements: rows in sight alone are positioned, which table elements cannot be
// A table of any length: only the rows in sight are in the page. The server sorts and pages; more rows are asked for as the end
// comes near.

import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { cn } from './class-names.ts';
import { Notice } from './notice.tsx';

export interface DataColumn<Row> {
  /** Name of the column, by which it is sorted. */
  readonly id: string;
  readonly header: string;
  /** Unit: pixels. */
  readonly width: number;
  readonly cell: (row: Row) => ReactNode;
  readonly isSortable?: boolean;
  readonly alignRight?: boolean;
}

export interface SortOrder {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

interface DataTableProps<Row> {
  readonly label: string;
  readonly columns: readonly DataColumn<Row>[];
  readonly rows: readonly Row[];
  /** Shown where there are no rows. Absent: it is not known yet whether there are any. */
  readonly emptyText: string | undefined;
  readonly rowId: (row: Row) => string;
  /** What the rows answer: when it changes, other rows take their place and are shown from the first one. */
  readonly query: unknown;
  /** Rows there are in all, where that is known. */
  readonly totalCount?: number | undefined;
  readonly sort?: SortOrder | null;
  readonly onSort?: (sort: SortOrder | null) => void;
  readonly onOpen?: (row: Row) => void;
  readonly openId?: string | null;
  readonly hasMore: boolean;
  readonly onMore: () => void;
  readonly className?: string;
}

const ROW_HEIGHT = 28;
/** The next rows are requested when fewer than this many are left. */
const PREFETCH_ROWS = 60;

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, emptyText, rowId, query, totalCount } = props;
  const { onOpen, openId, hasMore, onMore, className } = props;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState(0);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const items = virtualizer.getVirtualItems();
  const lastIndex = items.at(-1)?.index ?? 0;
  useLayoutEffect(() => {
    // `query` is why this runs, not what it reads.
    void query;
    scroller.current!.scrollTop = 0;
    setFocused(0);
  }, [query]);
  useEffect(() => {
    // `lastIndex` follows events of scrolling, which come late: with rows that have just been replaced it is that of the old ones.
    void lastIndex;
    const { scrollTop, clientHeight } = scroller.current!;
    if (hasMore && scrollTop + clientHeight >= (rows.length - PREFETCH_ROWS) * ROW_HEIGHT) onMore();
  }, [hasMore, lastIndex, rows.length, onMore]);

  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 20,
      PageUp: -20,
      Home: -rows.length,
      End: rows.length,
    };
    const by = steps[event.key];
    if (by !== undefined) {
      event.preventDefault();
      const target = Math.max(0, Math.min(rows.length - 1, focused + by));
      setFocused(target);
      virtualizer.scrollToIndex(target);
    }
    const row = rows[focused];
    // On the button of a column, Enter sorts.
    if (event.target instanceof HTMLButtonElement) return;
    if (event.key === 'Enter' && row !== undefined) onOpen?.(row);
  };
  const template = {
    gridTemplateColumns: columns.map(({ width }) => `minmax(${width}px, ${width}fr)`).join(' '),
  };
  const width = columns.reduce((sum, column) => sum + column.width, 0);
  return (
    <div
      ref={scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={(totalCount ?? rows.length) + 1}
      // A row that is scrolled away is not in the page.
      aria-activedescendant={items.some(({ index }) => index === focused) ? `${id}-${focused}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      className={cn('overflow-auto text-sm', className)}
    >
      <div style={{ minWidth: width }}>
        <div
          role="row"
          aria-rowindex={1}
          tabIndex={-1}
          className="sticky top-0 z-1 grid border-b bg-surface"
          style={template}
        >
          {columns.map(column => (
            <ColumnHeader key={column.id} column={column} {...props} />
          ))}
        </div>
        <div role="rowgroup" className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index]!;
            return (
              <div
                key={rowId(row)}
                id={`${id}-${index}`}
                role="row"
                tabIndex={-1}
                aria-rowindex={index + 2}
                aria-selected={rowId(row) === openId}
                data-focused={index === focused ? '' : undefined}
                onClick={() => {
                  setFocused(index);
                  onOpen?.(row);
                }}
                onKeyDown={() => undefined}
                className={cn(
                  'absolute left-0 grid w-full border-b hover:bg-hover aria-selected:bg-hover',
                  'in-focus-visible:data-focused:outline-2 in-focus-visible:data-focused:-outline-offset-2 in-focus-visible:data-focused:outline-accent',
                  onOpen !== undefined && 'cursor-pointer',
                )}
                style={{ ...template, height: ROW_HEIGHT, transform: `translateY(${start}px)` }}
              >
                {columns.map(column => (
                  <div
                    key={column.id}
                    role="gridcell"
                    tabIndex={-1}
                    className={cn('truncate px-2 py-1', column.alignRight === true && 'text-right')}
                  >
                    {column.cell(row)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      {rows.length === 0 && emptyText !== undefined && (
        <div role="row" tabIndex={-1} aria-rowindex={2} className="sticky left-0">
          <div role="gridcell" tabIndex={-1}>
            <Notice>{emptyText}</Notice>
          </div>
        </div>
      )}
    </div>
  );
}

function ColumnHeader<Row>({
  column: { id, header, isSortable, alignRight },
  sort,
  onSort,
}: DataTableProps<Row> & { readonly column: DataColumn<Row> }) {
  const direction = sort?.field === id ? sort.direction : null;
  const next = { none: 'asc', asc: 'desc', desc: null } as const;
  const sortNext = () => {
    const to = next[direction ?? 'none'];
    onSort?.(to === null ? null : { field: id, direction: to });
  };
  return (
    <div
      role="columnheader"
      tabIndex={-1}
      aria-sort={direction === null ? 'none' : direction === 'asc' ? 'ascending' : 'descending'}
      className={cn(
        'min-w-0 self-center px-2 py-1 text-xs font-medium text-muted',
        alignRight === true && 'text-right',
      )}
    >
      {isSortable === true && onSort !== undefined ? (
        <button type="button" className="max-w-full truncate hover:text-foreground" onClick={sortNext}>
          {header}
          {direction === 'asc' && ' ↑'}
          {direction === 'desc' && ' ↓'}
        </button>
      ) : (
        <span className="block truncate">{header}</span>
      )}
    </div>
  );
}
