// Metrics as numbers of few characters.

/** Four digits; large numbers with an exponent and three, because the axis of a chart has room for seven characters. */
export function formatMetric(value: number): string {
  if (Math.abs(value) < 1_000_000) return String(Number(value.toPrecision(4)));
  return value.toExponential(2).replace('+', '');
}
