// Integers in bodies of clients that send plain JSON: the parser of tRPC would round those beyond 2^53, which REST reads exactly.

import { replaceBigIntegers } from '@ortler/json';
import { tagDigits } from './int64-transformer.ts';

/** The text of a body with such integers in the form of `int64Transformer`. */
export function tagIntegers(body: string): string {
  return replaceBigIntegers(body, digits => JSON.stringify(tagDigits(digits)));
}
