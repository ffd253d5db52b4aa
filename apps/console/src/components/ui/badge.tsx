import { cva, type VariantProps } from 'class-variance-authority';
import type { ComponentProps } from 'react';
import { cn } from '../class-names.ts';

const badgeVariants = cva('inline-flex items-center rounded-sm border px-1.5 text-xs leading-5', {
  variants: {
    tone: {
      plain: 'border-border text-muted',
      good: 'border-good/40 text-good',
      warning: 'border-warning/40 text-warning',
      danger: 'border-danger/40 text-danger',
    },
  },
  defaultVariants: { tone: 'plain' },
});

export function Badge({
  className,
  tone,
  ...props
}: ComponentProps<'span'> & VariantProps<typeof badgeVariants>) {
  return <span className={cn(badgeVariants({ tone }), className)} {...props} />;
}
