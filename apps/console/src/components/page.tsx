// Frame of a page: its heading, what belongs beside it, and a body that scrolls.

import type { ReactNode } from 'react';
import { cn } from './class-names.ts';

interface PageProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Page({ title, actions, className, children }: PageProps) {
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b px-4 py-1.5">
        <h1 className="text-sm font-semibold">{title}</h1>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      <div className={cn('min-h-0 flex-1 overflow-auto', className)}>{children}</div>
    </div>
  );
}
