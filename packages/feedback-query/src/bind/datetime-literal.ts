// Parses date literals and formats dates. Pure; no clock.

const MIN_EPOCH_MS = Date.parse('0001-01-01T00:00:00.000Z');
const MAX_EPOCH_MS = Date.parse('9999-12-31T23:59:59.999Z');

const ISO_8601 =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * Parses ISO 8601 text (without offset: UTC) or Unix seconds; null when the value is neither.
 * Truncates to milliseconds, the precision of stored rows.
 *
 * Unit: milliseconds since 1970.
 */
export function parseDatetimeLiteral(value: string | number): number | null {
  const epochMs = typeof value === 'number' ? Math.floor(value * 1000) : parseIso(value);
  return isStorableMoment(epochMs) ? epochMs : null;
}

/** Whether a time has a 24-character ISO form: a whole millisecond in the years 1 to 9999. */
export function isStorableMoment(epochMs: number): boolean {
  return Number.isInteger(epochMs) && epochMs >= MIN_EPOCH_MS && epochMs <= MAX_EPOCH_MS;
}

function parseIso(text: string): number {
  const match = ISO_8601.exec(text);
  if (match === null) return Number.NaN;
  const [, date, minutes = '00:00', seconds = '00', fraction = '', offset = 'Z'] = match;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const day = Date.parse(`${date}T00:00:00Z`);
  // Date.parse turns 31 February into 3 March; such a date is refused.
  if (Number.isNaN(day) || toIsoMs(day).slice(0, 10) !== date) return Number.NaN;
  return Date.parse(`${date}T${minutes}:${seconds}.${milliseconds}${normalOffset(offset)}`);
}

function normalOffset(offset: string): string {
  if (offset.toUpperCase() === 'Z') return 'Z';
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0');
  return `${offset[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

/** `2026-01-07T00:00:00.000Z`: always 24 characters, so that text order is time order. */
export function toIsoMs(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
