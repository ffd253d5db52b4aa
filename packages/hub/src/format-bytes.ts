// Sizes for people. Unit: powers of ten, as the Hub shows them.

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** For example "1.5 GB". */
export function formatBytes(bytes: number): string {
  const exponent = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** exponent;
  return `${exponent === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[exponent]}`;
}
