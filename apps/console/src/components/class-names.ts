// Joins class names; of two Tailwind classes for the same property the later one wins.

import { type ClassValue, clsx } from 'clsx';
import { twMerge } from 'tailwind-merge';

export function cn(...classes: readonly ClassValue[]): string {
  return twMerge(clsx(classes));
}
