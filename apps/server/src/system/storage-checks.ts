// Checks of storage for /health: the disk of the data folder, and every database. Results are cached briefly, because the route is
// open to everyone.

import type { DatabaseCondition } from '../db/database.ts';
import { beforeTimeout } from './before-timeout.ts';
import type { DiskReport } from './check-disk.ts';

/** A database that is checked. */
export interface CheckedDatabase {
  readonly name: string;
  /** Whether chats and every other request with a key need it. */
  readonly isMain?: boolean;
  condition(): Promise<DatabaseCondition>;
}

export interface DatabaseState {
  readonly name: string;
  readonly state: DatabaseCondition;
}

export interface StorageReport {
  /** Absent: there is no data folder to check. */
  readonly disk?: DiskReport;
  readonly databases: readonly DatabaseState[];
  /** Whether the main database answers, if only to reads, which are all that chats need. */
  readonly isMainReady: boolean;
}

export interface StorageChecks {
  check(): Promise<StorageReport>;
}

export interface StorageChecksOptions {
  readonly databases?: readonly CheckedDatabase[];
  readonly disk?: () => Promise<DiskReport>;
}

/** How old a result is when the next check begins. Those who ask often get the last result meanwhile, and wait for no disk. */
const FRESH_MS = 500;
/** How old a result may be. With the timeout of a check, a fault shows within two seconds, and so does its end. */
const OLDEST_MS = 800;
/** Timeout of one check: a disk or a database that hangs. */
const TIMEOUT_MS = 1_000;

/** Creates the checks. */
export function createStorageChecks({ databases = [], disk }: StorageChecksOptions): StorageChecks {
  const conditions = databases.map(({ name, condition }) => ({ name, read: oneAtATime(condition) }));
  const readDisk = disk === undefined ? undefined : oneAtATime(disk);
  let last: { readonly atMs: number; readonly report: StorageReport } | undefined;
  const checkAll = async (): Promise<StorageReport> => {
    const [states, diskReport] = await Promise.all([
      Promise.all(
        conditions.map(async ({ name, read }) => ({
          name,
          state: await beforeTimeout(TIMEOUT_MS, read(), 'unreachable'),
        })),
      ),
      readDisk === undefined
        ? undefined
        : beforeTimeout<DiskReport>(TIMEOUT_MS, readDisk(), { state: 'unwritable' }),
    ]);
    const answers = ({ state }: DatabaseState) => state === 'ready' || state === 'read_only';
    const isMainReady = databases.every(({ isMain }, index) => !isMain || answers(states[index]!));
    return { databases: states, isMainReady, ...(diskReport !== undefined && { disk: diskReport }) };
  };
  const refresh = oneAtATime(async () => {
    const atMs = performance.now();
    const report = await checkAll();
    last = { atMs, report };
    return report;
  });
  return {
    async check() {
      const ageMs = performance.now() - (last?.atMs ?? Number.NEGATIVE_INFINITY);
      const next = ageMs > FRESH_MS ? refresh() : undefined;
      return last !== undefined && ageMs <= OLDEST_MS ? last.report : next!;
    },
  };
}

/** Work that hangs, as on a disk of the network, is not begun again until it has ended. */
function oneAtATime<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}
