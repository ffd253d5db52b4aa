// Values as JSON for people and files.

import { randomId } from './random-id.ts';

/** JSON whose 64-bit integers have all their digits: each is marked in the text, and its quotes are taken away. */
export function printJson(value: unknown, indent?: number): string {
  const mark = randomId();
  const json = JSON.stringify(
    value,
    (_, each) => (typeof each === 'bigint' ? `${mark}${each}` : each),
    indent,
  );
  return (json ?? 'undefined').replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}
