import { type ReactNode, useId } from 'react';
import { cn } from '../class-names.ts';

interface FieldProps {
  readonly label: ReactNode;
  /** What the value does; under the field. */
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly className?: string;
  /** The control; it takes the ids that join it with label and hint. */
  readonly children: (ids: { readonly id: string; readonly 'aria-describedby'?: string }) => ReactNode;
}

/** A labelled control. */
export function Field({ label, hint, error, className, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  const hasHint = hint !== undefined || error !== undefined;
  return (
    <div className={cn('flex min-w-0 flex-col gap-1', className)}>
      <label htmlFor={id} className="text-xs font-medium wrap-anywhere text-muted">
        {label}
      </label>
      {children({ id, ...(hasHint && { 'aria-describedby': hintId }) })}
      {hasHint && (
        <p id={hintId} className={cn('text-xs', error === undefined ? 'text-muted' : 'text-danger')}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}
