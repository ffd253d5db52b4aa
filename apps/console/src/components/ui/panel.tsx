import type { ComponentProps, ReactNode } from 'react';
import { cn } from '../class-names.ts';

type PanelProps = Omit<ComponentProps<'section'>, 'title'> & {
  readonly title?: ReactNode;
  /** At the right of the title. */
  readonly actions?: ReactNode;
};

/** A box with a heading. */
export function Panel({ title, actions, className, children, ...props }: PanelProps) {
  return (
    <section className={cn('min-w-0 rounded-md border bg-raised', className)} {...props}>
      {(title !== undefined || actions !== undefined) && (
        <header className="flex min-h-9 flex-wrap items-center justify-between gap-2 border-b px-3 py-1">
          <h2 className="min-w-0 text-sm font-semibold wrap-anywhere">{title}</h2>
          {actions !== undefined && <div className="flex flex-wrap items-center gap-1">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}
