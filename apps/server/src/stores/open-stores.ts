// Opens everything that a server keeps: database, feedback, usage and keys, and the counts of its rate limits.

import { RateLimiter, type TrainingServices } from '@ortler/api';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { toRateLimits } from '../config/rate-limits.ts';
import type { Database } from '../db/database.ts';
import { DatabaseError, messageOf, withoutPassword } from '../db/database-errors.ts';
import { openDatabase } from '../db/open-database.ts';
import type { StatementTrace } from '../db/storage-dialect.ts';
import { StorageError } from '../db/storage-error.ts';
import { type ApiKeyStore, createApiKeyStore } from './api-keys.ts';
import { FeedbackBodyReader } from './feedback/body-reader.ts';
import { type OpenFeedback, openFeedback } from './feedback/open-feedback.ts';
import { shareLimits } from './limits/shared-limits.ts';
import { createTrainingServices } from './training/training-services.ts';
import { type OpenUsageStore, openUsageStore } from './usage/usage-store.ts';

export interface Stores {
  readonly database: Database;
  readonly feedback: OpenFeedback;
  readonly feedbackBodies: FeedbackBodyReader;
  readonly usage: OpenUsageStore;
  readonly keys: ApiKeyStore;
  readonly training: TrainingServices;
  readonly limits: RateLimiter;
}

export interface StoresOptions {
  readonly logger: Logger;
  readonly trace: StatementTrace | undefined;
  /** Takes what is opened, and closes it in reverse order. */
  readonly owner: AsyncDisposableStack;
}

/** Throws: `DatabaseError`. What was opened before belongs to `owner` then too. */
export async function openStores(config: Config, options: StoresOptions): Promise<Stores> {
  try {
    return await openAll(config, options);
  } catch (error) {
    throw error instanceof StorageError ? toDatabaseError(error, config) : error;
  }
}

/** Throws: `DatabaseError`; `StorageError` where a database takes a connection and fails the next one, or a statement. */
async function openAll(config: Config, { logger, trace, owner }: StoresOptions): Promise<Stores> {
  const now = Date.now;
  const close = (store: { close(): void | Promise<void> }) => store.close();
  const database = owner.adopt(await openDatabase({ ...config, trace }), close);
  const feedback = owner.adopt(await openFeedback(database, config), close);
  const feedbackBodies = owner.adopt(new FeedbackBodyReader(), close);
  const usage = owner.adopt(await openUsageStore(database, config.dataDir), close);
  const keys = owner.adopt(await createApiKeyStore(database, { bootstrapKey: config.apiKey, now }), close);
  const limits = new RateLimiter({ ...toRateLimits(config), now });
  if (database.kind === 'postgres') {
    const onChange = (failure: unknown) => logSharing(logger, failure);
    owner.adopt(await shareLimits(database, limits, { now, onChange }), close);
  }
  const training = owner.adopt(createTrainingServices(database, { ...config, now }), close);
  return { database, feedback, feedbackBodies, usage, keys, training, limits };
}

/** For the operator, with the words of the driver: callers of the API get others. */
function toDatabaseError(error: StorageError, { databaseUrl, dataDir }: Config): DatabaseError {
  const place =
    databaseUrl === undefined ? `data folder ${dataDir}` : `database ${withoutPassword(databaseUrl)}`;
  const reason = messageOf(error.cause ?? error);
  return new DatabaseError(`The ${place} cannot be used: ${reason}`, { cause: error });
}

/** @param failure Why a round failed, or null when one succeeds again. */
function logSharing(logger: Logger, failure: unknown): void {
  if (failure === null) logger.info('rate limits are shared with other servers again');
  else
    logger.warn({ reason: messageOf(failure) }, 'rate limits count per server: the database does not answer');
}
