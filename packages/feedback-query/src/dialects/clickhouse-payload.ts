// Payload text for ClickHouse, whose JSON functions read an integer outside 64 bits as a string.

/** `JSON.rawJSON`, which TypeScript does not declare yet. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

const MIN_INT64 = -(2n ** 63n);
const MAX_UINT64 = 2n ** 64n - 1n;
/** JSON.stringify writes an exponent from this value on. */
const EXPONENT_FROM = 1e21;

/** Like `JSON.stringify`, but integers outside 64 bits end in `.0`, so that they stay numbers. */
export function toClickHousePayload(payload: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(payload, (_key, value: unknown) =>
    typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < EXPONENT_FROM
      ? rawJSON(toClickHouseInteger(JSON.stringify(value)))
      : value,
  );
}

/** The JSON number for the digits of an integer, which may have a sign: with `.0` outside 64 bits. */
export function toClickHouseInteger(digits: string): string {
  const value = BigInt(digits);
  return value < MIN_INT64 || value > MAX_UINT64 ? `${digits}.0` : digits;
}
