// The input of a procedure as the caller sent it, beside what the schema reads from it: requests that are passed on to other
// servers and trajectories that are stored keep what the schema does not know.

import type { CallerContext } from './trpc.ts';

/** The JSON object that the schema has checked. */
export async function readRawInput({
  getRawInput,
}: Pick<CallerContext, 'getRawInput'>): Promise<Readonly<Record<string, unknown>>> {
  return (await getRawInput!()) as Readonly<Record<string, unknown>>;
}
