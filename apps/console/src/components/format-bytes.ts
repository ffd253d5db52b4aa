// Sizes for people. Unit: powers of ten.

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** For example "1.5 GB". */
export function formatBytes(bytes: number): string {
  const exponent = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** exponent).toFixed(exponent === 0 ? 0 : 1)} ${UNITS[exponent]}`;
}
