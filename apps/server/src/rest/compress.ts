// gzip for large JSON answers of clients that accept it. Streams are not compressed: their chunks have to leave at once.

import { promisify } from 'node:util';
import { constants, gzip as gzipWithCallback } from 'node:zlib';
import { releaseBytes } from '@ortler/api';

const gzip = promisify(gzipWithCallback);

/** Smaller answers would gain nothing: they fit into a few packets. Unit: bytes. */
export const COMPRESSED_FROM_BYTES = 16_384;

/** Fast: JSON becomes 5 to 10 times smaller at every level. */
const OPTIONS = { level: constants.Z_BEST_SPEED };

export interface CompressedBody {
  readonly parts: readonly Uint8Array<ArrayBuffer>[];
  readonly byteCount: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The body and its headers, compressed off the event loop where that pays and the client accepts it. Else `parts` as they are.
 * Mutates: `parts` that it compresses, whose memory is freed.
 */
export async function compressBody(
  parts: readonly Uint8Array<ArrayBuffer>[],
  acceptEncoding: string | undefined,
): Promise<CompressedBody> {
  const byteCount = parts.reduce((sum, { length }) => sum + length, 0);
  if (byteCount < COMPRESSED_FROM_BYTES) return { parts, byteCount, headers: {} };
  // Caches between keep both forms apart.
  const vary = { vary: 'Origin, Accept-Encoding' };
  if (!acceptsGzip(acceptEncoding)) return { parts, byteCount, headers: vary };
  const plain = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  const compressed = await gzip(plain, OPTIONS);
  for (const bytes of [...parts, plain]) releaseBytes(bytes);
  return {
    parts: [compressed],
    byteCount: compressed.length,
    headers: { ...vary, 'content-encoding': 'gzip' },
  };
}

/** Source: RFC 9110, section 12.5.3. Without the header nothing is compressed. */
export function acceptsGzip(header: string | undefined): boolean {
  if (header === undefined) return false;
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map(text => text.trim());
    const quality = parameters.find(text => text.startsWith('q='))?.slice(2);
    weights.set(name === 'x-gzip' ? 'gzip' : name, quality === undefined ? 1 : Number(quality));
  }
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}
