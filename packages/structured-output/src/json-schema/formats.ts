// The string formats that are enforced, each as one pattern without look-around: the grammar and the check of finished
// texts read the same table. Every other format is an annotation, as JSON Schema has it.

export interface StringFormat {
  /** Matches the whole string. */
  readonly pattern: string;
  /** Matches the strings that are generated, where these are fewer. */
  readonly generated?: string;
  readonly maxLength?: number;
}

const LEAP_YEAR = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)';
/** Python has no year 0. */
const YEARS_FROM_1 = '(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})';
const LEAP_YEAR_FROM_1 = LEAP_YEAR.replace('(?:[02468][048]|', '(?:0[48]|[2468][048]|');
const DAY_OF_MONTH = [
  '(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])',
  '(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)',
  '02-(?:0[1-9]|1[0-9]|2[0-8])',
].join('|');
const DATE = `(?:[0-9]{4}-(?:${DAY_OF_MONTH})|${LEAP_YEAR}-02-29)`;
/** A leap second only where it can be one: the last second of a day in UTC. */
const TIME =
  '(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:[zZ]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])|23:59:60(?:\\.[0-9]+)?(?:[zZ]|[+-]00:00))';

const SECONDS = '[0-9]+S';
const MINUTES = `[0-9]+M(?:${SECONDS})?`;
const HOURS = `[0-9]+H(?:${MINUTES})?`;
const CLOCK = `T(?:${HOURS}|${MINUTES}|${SECONDS})`;
const MONTHS = '[0-9]+M(?:[0-9]+D)?';
const DURATION = `P(?:(?:[0-9]+D|${MONTHS}|[0-9]+Y(?:${MONTHS})?)(?:${CLOCK})?|${CLOCK}|[0-9]+W)`;

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** After one label the domain has another: RFC 5321 does without, and most validators (ajv, zod, Pydantic) do not. */
const MAIL_DOMAIN = `${LABEL}(?:\\.${LABEL})+`;
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const IPV4 = `${BYTE}(?:\\.${BYTE}){3}`;

const HEX = '[0-9A-Fa-f]';
const IPV6 = ((): string => {
  const group = `${HEX}{1,4}`;
  const last = `(?:${group}:${group}|${IPV4})`;
  // `::` stands for the groups that are missing: `before` of them precede it, `after` follow it.
  const shortened = [0, 1, 2, 3, 4, 5, 6, 7].map(before => {
    const head = before === 0 ? '' : `(?:${group}(?::${group}){0,${before - 1}})?`;
    const after = 7 - before;
    if (after === 0) return `${head}::`;
    if (after === 1) return `${head}::${group}`;
    const exact = after === 2 ? last : `(?:${group}:){${after - 2}}${last}`;
    return `${head}::${exact}`;
  });
  return `(?:(?:${group}:){6}${last}|${shortened.join('|')})`;
})();

const UNRESERVED = "A-Za-z0-9._~!$&'()*+,;=\\-";
const ESCAPE = `%${HEX}{2}`;
const uriParts = (unreserved: string) => {
  const pchar = `(?:[${unreserved}:@]|${ESCAPE})`;
  const host = `(?:\\[(?:${IPV6}|v${HEX}+\\.[${unreserved}:]+)\\]|(?:[${unreserved}]|${ESCAPE})*)`;
  const authority = `//(?:(?:[${unreserved}:]|${ESCAPE})*@)?${host}(?::[0-9]*)?(?:/${pchar}*)*`;
  const absolute = `/(?:${pchar}+(?:/${pchar}*)*)?`;
  const tail = `(?:\\?(?:${pchar}|[/?])*)?(?:#(?:${pchar}|[/?])*)?`;
  const rootless = `${pchar}+(?:/${pchar}*)*`;
  const noScheme = `(?:[${unreserved}@]|${ESCAPE})+(?:/${pchar}*)*`;
  return {
    absolute: `[A-Za-z][A-Za-z0-9+.-]*:(?:${authority}|${absolute}|${rootless})?${tail}`,
    relative: `(?:${authority}|${absolute}|${noScheme})?${tail}`,
  };
};
const URI = uriParts(UNRESERVED);
const IRI = uriParts(`${UNRESERVED}\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF`);
const REFERENCE_TOKEN = '(?:[^~/]|~[01])*';

/** Source: RFC 6570. */
const VARIABLE = `(?:[A-Za-z0-9_]|%${HEX}{2})(?:\\.?(?:[A-Za-z0-9_]|%${HEX}{2}))*(?::[1-9][0-9]{0,3}|\\*)?`;
const TEMPLATE = `(?:[^\\x00-\\x20"'<>%\\\\^\`{|}]|%${HEX}{2}|\\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\\})*`;

const whole = (pattern: string): string => `^(?:${pattern})$`;
/** Digits of a number of any length, as nanoseconds have: a small model goes on with them without an end. */
const DIGITS = '[0-9]{1,9}';
/** A format of time, whose numbers have an end where they are generated. */
const timeFormat = (pattern: string): StringFormat => ({
  pattern: whole(pattern),
  generated: whole(
    pattern
      .replace(LEAP_YEAR, () => LEAP_YEAR_FROM_1)
      .replace('[0-9]{4}-', `${YEARS_FROM_1}-`)
      .replaceAll('[0-9]+', DIGITS),
  ),
});

/** Sources: RFC 3339 (dates, durations), 5321 (email), 1123 (hostname), 2673, 4291, 4122, 3986, 3987, 6901. */
export const STRING_FORMATS: ReadonlyMap<string, StringFormat> = new Map<string, StringFormat>([
  ['date', timeFormat(DATE)],
  ['time', timeFormat(TIME)],
  ['date-time', timeFormat(`${DATE}[tT]${TIME}`)],
  ['duration', timeFormat(DURATION)],
  ['email', { pattern: whole(`${ATOM}(?:\\.${ATOM})*@${MAIL_DOMAIN}`), maxLength: 254 }],
  ['hostname', { pattern: whole(`${LABEL}(?:\\.${LABEL})*`), maxLength: 253 }],
  ['ipv4', { pattern: whole(IPV4) }],
  ['ipv6', { pattern: whole(IPV6) }],
  ['uuid', { pattern: whole(`${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`) }],
  ['uri', { pattern: whole(URI.absolute) }],
  ['uri-reference', { pattern: whole(`(?:${URI.absolute}|${URI.relative})`) }],
  ['iri', { pattern: whole(IRI.absolute) }],
  ['iri-reference', { pattern: whole(`(?:${IRI.absolute}|${IRI.relative})`) }],
  ['uri-template', { pattern: whole(TEMPLATE) }],
  ['json-pointer', { pattern: whole(`(?:/${REFERENCE_TOKEN})*`) }],
  ['relative-json-pointer', { pattern: whole(`(?:0|[1-9][0-9]*)(?:#|(?:/${REFERENCE_TOKEN})*)`) }],
]);
