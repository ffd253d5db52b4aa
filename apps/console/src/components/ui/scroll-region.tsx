import type { ReactNode } from 'react';
import { cn } from '../class-names.ts';

interface ScrollRegionProps {
  /** What is in it, for screen readers. */
  readonly label: string;
  /** Its greatest height, among others. */
  readonly className?: string;
  readonly children: ReactNode;
}

/** A part of a page that scrolls on its own, by the keyboard too where nothing in it takes the focus. */
export function ScrollRegion({ label, className, children }: ScrollRegionProps) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs the keyboard
      tabIndex={0}
      className={cn('overflow-auto', className)}
    >
      {children}
    </section>
  );
}
