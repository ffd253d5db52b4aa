// Addresses of databases as they may stand in messages and logs.

/** The address with its password starred out. */
export function withoutPassword(text: string): string {
  const url = new URL(text);
  if (url.password !== '') url.password = '***';
  return url.href;
}
