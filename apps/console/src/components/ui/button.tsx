import { cva, type VariantProps } from 'class-variance-authority';
import type { ComponentProps } from 'react';
import { cn } from '../class-names.ts';

const buttonVariants = cva(
  'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap transition-colors disabled:opacity-50 aria-pressed:bg-hover',
  {
    variants: {
      variant: {
        default: 'bg-accent text-accent-foreground hover:opacity-90',
        outline: 'border border-input bg-raised hover:bg-hover',
        ghost: 'text-muted hover:bg-hover hover:text-foreground',
        danger: 'border border-input text-danger hover:bg-hover',
      },
      size: { default: 'h-8 px-3 text-sm', sm: 'h-7 px-2 text-xs', icon: 'size-7 text-sm' },
    },
    defaultVariants: { variant: 'outline', size: 'default' },
  },
);

type ButtonProps = ComponentProps<'button'> & VariantProps<typeof buttonVariants>;

export function Button({ className, variant, size, type = 'button', ...props }: ButtonProps) {
  return <button type={type} className={cn(buttonVariants({ variant, size }), className)} {...props} />;
}
