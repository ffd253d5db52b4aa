// Parses timestamps as pydantic does: ISO 8601 text with or without offset, a bare date, or Unix time. Text without an
// offset is UTC. The result is canonical text, so that all databases compare and store it alike.

import type { Rejection } from './lax-values.ts';

const TIME = /^[Tt_ ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d\d):?(\d\d))?$/;
const UNIX_TIME = /^[+-]?\d+(?:\.\d+)?$/;
const DATE_LENGTH = 'yyyy-mm-dd'.length;

/** Unix times beyond this are milliseconds, others are seconds. Source: pydantic. */
const LARGEST_UNIX_SECONDS = 20_000_000_000;
const MAX_UNIX_MS = 253_402_300_799_999;
/** The start of the year 1: nothing earlier can be written as an ISO date of four digits. */
const MIN_UNIX_MS = -62_135_596_800_000;

const DATE_TIME_TYPE: Rejection = { type: 'datetime_type', msg: 'Input should be a valid datetime' };
const TOO_LATE = 'dates after 9999 are not supported as unix timestamps';
const TOO_EARLY = 'dates before 0000 are not supported as unix timestamps';

/** Returns UTC ISO 8601 text with milliseconds (finer digits are truncated), or why the value is not a timestamp. */
export function readDateTime(value: unknown): string | Rejection {
  if (typeof value === 'number' || typeof value === 'bigint') {
    const unixMs = toUnixMs(Number(value));
    return typeof unixMs === 'string' ? notADateTime(unixMs) : new Date(unixMs).toISOString();
  }
  if (typeof value !== 'string') return DATE_TIME_TYPE;
  if (UNIX_TIME.test(value)) {
    const unixMs = toUnixMs(Number(value));
    return typeof unixMs === 'string' ? notADate(unixMs) : new Date(unixMs).toISOString();
  }
  const midnight = readDate(value);
  if (typeof midnight === 'string') return notADate(midnight);
  const sinceMidnight = readTime(value.slice(DATE_LENGTH));
  if (sinceMidnight === undefined) return notADate('unexpected extra characters at the end of the input');
  const unixMs = midnight + sinceMidnight;
  if (unixMs < MIN_UNIX_MS) return notADateTime('year 0 is out of range');
  if (unixMs > MAX_UNIX_MS) return notADateTime('year 10000 is out of range');
  return new Date(unixMs).toISOString();
}

/** The time in milliseconds, or why the number is out of range. */
function toUnixMs(time: number): number | string {
  const unixMs = Math.floor(Math.abs(time) > LARGEST_UNIX_SECONDS ? time : time * 1000);
  if (Number.isNaN(unixMs)) return 'NaN values not permitted';
  if (unixMs > MAX_UNIX_MS) return TOO_LATE;
  return unixMs < MIN_UNIX_MS ? TOO_EARLY : unixMs;
}

/** Midnight of the date at the start of the text, or the fault of that date. Unit: milliseconds since 1970. */
function readDate(text: string): number | string {
  if (text.length < DATE_LENGTH) return 'input is too short';
  const [year, month, day] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10)];
  if (!isDigits(year)) return 'invalid character in year';
  if (text[4] !== '-') return 'invalid date separator, expected `-`';
  if (!isDigits(month)) return 'invalid character in month';
  if (text[7] !== '-') return 'invalid date separator, expected `-`';
  if (!isDigits(day)) return 'invalid character in day';
  if (Number(month) < 1 || Number(month) > 12) return 'month value is outside expected range of 1-12';
  // setUTCFullYear, unlike Date.UTC, does not move the years 0 to 99 into the twentieth century.
  const midnight = new Date(0).setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (new Date(midnight).getUTCDate() !== Number(day)) return 'day value is outside expected range';
  return midnight;
}

/** Time since midnight UTC of the text after the date; undefined when it is not a time of day. Unit: milliseconds. */
function readTime(text: string): number | undefined {
  if (text === '') return 0;
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [hour, minute, second] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  const [offsetHour, offsetMinute] = [Number(match[6] ?? 0), Number(match[7] ?? 0)];
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return undefined;
  const millisecond = Number((match[4] ?? '').slice(0, 3).padEnd(3, '0'));
  const offsetMinutes = (match[5] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  return ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1000 + millisecond;
}

function isDigits(text: string): boolean {
  return /^\d+$/.test(text);
}

function notADate(reason: string): Rejection {
  return {
    type: 'datetime_from_date_parsing',
    msg: `Input should be a valid datetime or date, ${reason}`,
  };
}

function notADateTime(reason: string): Rejection {
  return { type: 'datetime_parsing', msg: `Input should be a valid datetime, ${reason}` };
}
