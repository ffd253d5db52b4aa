// Dates in the wire format of the original service.

/** `2026-01-01T12:00:00.123000Z`, without a fraction on whole seconds. @param epochMs Unit: milliseconds since 1970. */
export function toWireMoment(epochMs: number): string {
  const text = new Date(epochMs).toISOString();
  return epochMs % 1000 === 0 ? text.replace('.000Z', 'Z') : text.replace('Z', '000Z');
}
