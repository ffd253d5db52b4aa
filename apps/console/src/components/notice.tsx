// A line that shows a state: loading, empty, failed.

import type { ReactNode } from 'react';
import { messageOf } from '../connection/api-client.ts';
import { cn } from './class-names.ts';

export function Notice({
  className,
  children,
}: {
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return <p className={cn('px-3 py-4 text-sm text-muted', className)}>{children}</p>;
}

export function FailureNotice({
  error,
  className,
}: {
  readonly error: unknown;
  readonly className?: string;
}) {
  return (
    <p role="alert" className={cn('px-3 py-2 text-sm wrap-anywhere text-danger', className)}>
      {messageOf(error)}
    </p>
  );
}
