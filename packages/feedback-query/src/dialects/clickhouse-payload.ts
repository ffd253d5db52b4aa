// How a payload must be written for ClickHouse: its JSON functions take an integer outside 64 bits for a text.

/** What V8 offers beyond the declared JSON object. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

const MIN_INT64 = -(2 ** 63);
const MAX_UINT64 = 2 ** 64;
/** From here on JSON.stringify writes an exponent. */
const EXPONENT_FROM = 1e21;

/** As `JSON.stringify`, with `.0` behind integers outside 64 bits, so that they stay numbers. */
export function toClickHousePayload(payload: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(payload, (_key, value: unknown) =>
    typeof value === 'number' && isWideInteger(value) ? rawJSON(`${value}.0`) : value,
  );
}

function isWideInteger(value: number): boolean {
  return (value <= MIN_INT64 || value >= MAX_UINT64) && Math.abs(value) < EXPONENT_FROM;
}
