// One log call over any transport: reads the body into a spool, then stores everything or nothing. Idempotent with a key.

import { createHash } from 'node:crypto';
import type { TrajectoryLogResult } from '@ortler/schemas';
import type { Services } from '../ports/services.ts';
import { invalidInput } from '../trpc/report-faults.ts';
import type { CallerContext } from '../trpc/trpc.ts';
import { findModel, unknownModel } from './find-model.ts';

/** Lower-case name of the header. */
const IDEMPOTENCY_KEY = 'idempotency-key';
const KEY_PATTERN = /^[\x21-\x7e]{1,200}$/;

/** Throws: `not_found`, `invalid_input`. */
export async function logTrajectories(
  services: Services,
  { headers, principal, signal }: Pick<CallerContext, 'headers' | 'principal' | 'signal'>,
  modelReference: string,
  body: AsyncIterable<Uint8Array>,
): Promise<TrajectoryLogResult> {
  const { trajectories } = services.training;
  const key = headers[IDEMPOTENCY_KEY];
  if (key !== undefined && !KEY_PATTERN.test(key))
    throw wrongKey('must be 1 to 200 printable ASCII characters without spaces');
  const model = await findModel(services, principal, modelReference);
  const hash = createHash('sha256');
  const hashed = key === undefined ? body : hashing(body, bytes => hash.update(bytes));
  const log = await trajectories.readLog(hashed, { receivedAtMs: services.now(), signal });
  try {
    const idempotency = key === undefined ? null : { key, digest: hash.digest('hex') };
    const stored = await trajectories.append(model.id, { ...log, idempotency, signal });
    if (stored === 'unknown-model') throw unknownModel(modelReference);
    if (stored === 'key-reused') throw wrongKey('belongs to an earlier call with another body');
    const { id, groupCount, trajectoryCount } = stored;
    return { object: 'trajectory_log', id, groups: groupCount, trajectories: trajectoryCount };
  } finally {
    await log.spool.dispose();
  }
}

function wrongKey(reason: string) {
  const loc = ['header', IDEMPOTENCY_KEY];
  return invalidInput([{ loc, msg: `Value error, ${reason}`, type: 'value_error' }]);
}

async function* hashing(
  body: AsyncIterable<Uint8Array>,
  update: (bytes: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const bytes of body) {
    update(bytes);
    yield bytes;
  }
}
