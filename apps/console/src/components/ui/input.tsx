import type { ComponentProps } from 'react';
import { cn } from '../class-names.ts';

const field =
  'w-full max-w-full min-w-0 rounded-md border border-input bg-raised px-2 text-sm text-foreground placeholder:text-muted disabled:opacity-50 aria-invalid:border-danger';

export function Input({ className, ...props }: ComponentProps<'input'>) {
  return <input dir="auto" className={cn(field, 'h-8', className)} {...props} />;
}

export function Textarea({ className, ...props }: ComponentProps<'textarea'>) {
  return (
    <textarea dir="auto" className={cn(field, 'min-h-16 py-1.5 leading-relaxed', className)} {...props} />
  );
}

/** The browser's own list, so that keyboard, screen reader and phone get what they know. */
export function Select({ className, ...props }: ComponentProps<'select'>) {
  return <select className={cn(field, 'h-8 pr-1', className)} {...props} />;
}

export function Checkbox({ className, ...props }: Omit<ComponentProps<'input'>, 'type'>) {
  return <input type="checkbox" className={cn('size-4 shrink-0 accent-accent', className)} {...props} />;
}
