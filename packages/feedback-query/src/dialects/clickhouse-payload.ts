// Payload text for ClickHouse, whose JSON functions read an integer outside 64 bits as a string.

/** `JSON.rawJSON`, which TypeScript does not declare yet. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

const MIN_INT64 = -(2 ** 63);
const MAX_UINT64 = 2 ** 64;
/** JSON.stringify writes an exponent from this value on. */
const EXPONENT_FROM = 1e21;

/** Like `JSON.stringify`, but integers outside 64 bits end in `.0`, so that they stay numbers. */
export function toClickHousePayload(payload: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(payload, (_key, value: unknown) =>
    typeof value === 'number' && isWideInteger(value) ? rawJSON(`${value}.0`) : value,
  );
}

function isWideInteger(value: number): boolean {
  return (value <= MIN_INT64 || value >= MAX_UINT64) && Math.abs(value) < EXPONENT_FROM;
}
