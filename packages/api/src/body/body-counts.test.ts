import { expect, it } from 'vitest';
import { BodyCounts } from './body-counts.ts';

/** Counts a text in parts of so many bytes. */
function count(text: string, partLength: number): void {
  const bytes = Buffer.from(text);
  const counts = new BodyCounts();
  for (let at = 0; at < bytes.length; at += partLength) counts.add(bytes.subarray(at, at + partLength));
}

const repeated = (item: string, times: number) => Array<string>(times).fill(item).join();

// The shortest property and the shortest value.
it.each([1_000, 100_000, 10_000_000])(
  'refuses the first property and value too many, in parts of %d bytes',
  partLength => {
    expect(() => count(`{${repeated('"":1', 65_536)}}`, partLength)).not.toThrow();
    expect(() => count(`{${repeated('"":1', 65_537)}}`, partLength)).toThrow('more than 65536 properties');
    expect(() => count(`[${repeated('1', 524_287)}]`, partLength)).not.toThrow();
    expect(() => count(`[${repeated('1', 524_288)}]`, partLength)).toThrow('more than 524288 values');
  },
);
