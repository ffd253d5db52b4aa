// `strftime_now` of chat templates: a time by the directives of Python's strftime, in English, local time.

import { countOccurrences } from './code-points.ts';
import { chargeItems } from './meter.ts';
import { TemplateError } from './template-error.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;

type Directive = (date: Date) => string | number;
const two = (value: number): string => value.toString().padStart(2, '0');
const hour12 = (date: Date): number => date.getHours() % 12 || 12;

const DIRECTIVES: Readonly<Record<string, Directive>> = {
  '%': () => '%',
  A: date => DAYS[date.getDay()]!,
  a: date => DAYS[date.getDay()]!.slice(0, 3),
  B: date => MONTHS[date.getMonth()]!,
  b: date => MONTHS[date.getMonth()]!.slice(0, 3),
  d: date => two(date.getDate()),
  '-d': date => date.getDate(),
  e: date => date.getDate().toString().padStart(2, ' '),
  F: date => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
  H: date => two(date.getHours()),
  '-H': date => date.getHours(),
  I: date => two(hour12(date)),
  '-I': date => hour12(date),
  j: date => dayOfYear(date).toString().padStart(3, '0'),
  M: date => two(date.getMinutes()),
  '-M': date => date.getMinutes(),
  m: date => two(date.getMonth() + 1),
  '-m': date => date.getMonth() + 1,
  p: date => (date.getHours() < 12 ? 'AM' : 'PM'),
  S: date => two(date.getSeconds()),
  '-S': date => date.getSeconds(),
  T: date => `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`,
  u: date => date.getDay() || 7,
  w: date => date.getDay(),
  Y: date => date.getFullYear(),
  y: date => two(date.getFullYear() % 100),
  // The original formats a time without a zone.
  Z: () => '',
  z: () => '',
};

/** Throws: `TemplateError` for a directive that is not in the table. */
export function strftime(format: string, date: Date): string {
  chargeItems(countOccurrences(format, '%'));
  return format.replace(/%(-?[\s\S]?)/g, (whole, name: string) => {
    const directive = DIRECTIVES[name];
    if (directive === undefined)
      throw new TemplateError(`strftime_now does not support the directive "${whole}".`);
    return String(directive(date));
  });
}

function dayOfYear(date: Date): number {
  const start = Date.UTC(date.getFullYear(), 0, 0);
  return (Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) - start) / 86_400_000;
}
