// Settings of storage: folders, databases and the query timeout. Caller: `../settings.ts`.

import { byteSize, clickhouseUrl, folder, MEBIBYTE, postgresUrl, wholeNumber } from '../setting-values.ts';
import { setting } from './setting.ts';

export const DATA_SETTINGS = {
  dataDir: setting({
    variable: 'ORTLER_DATA_DIR',
    flag: '--data-dir',
    valueName: 'folder',
    fallback: '.ortler',
    description: 'Folder of the SQLite database, of built models and of checkpoints.',
    schema: folder(),
  }),
  databaseUrl: setting<string | undefined>({
    variable: 'DATABASE_URL',
    flag: '--database-url',
    valueName: 'url',
    fallback: undefined,
    shownFallback: 'SQLite in the data folder',
    description:
      'PostgreSQL 15 or later, shared by several servers: postgres://user:password@host/database. Prefer the variable.',
    schema: postgresUrl(),
    isSecret: true,
  }),
  clickhouseUrl: setting<string | undefined>({
    variable: 'CLICKHOUSE_URL',
    flag: '--clickhouse-url',
    valueName: 'url',
    fallback: undefined,
    shownFallback: 'feedback in the main database',
    description:
      'ClickHouse 24.8 or later, for feedback only: http://user:password@host:8123/database. Servers that share a ClickHouse must share a DATABASE_URL too. Prefer the variable.',
    schema: clickhouseUrl(),
    isSecret: true,
  }),
  lowDiskBytes: setting({
    variable: 'ORTLER_LOW_DISK',
    flag: '--low-disk',
    valueName: 'size',
    fallback: '256mb',
    description:
      'Free space on the disk of the data folder below which /health says degraded; units as for --body-limit.',
    schema: byteSize(0, 1_024 ** 3 * MEBIBYTE),
  }),
  queryTimeLimitMs: setting({
    variable: 'ORTLER_QUERY_TIME_LIMIT_MS',
    flag: '--query-time-limit-ms',
    valueName: 'milliseconds',
    fallback: '30000',
    description: 'Timeout of a feedback query.',
    schema: wholeNumber(100, 3_600_000),
  }),
  responseRetentionDays: setting({
    variable: 'ORTLER_RESPONSE_RETENTION_DAYS',
    flag: '--response-retention-days',
    valueName: 'days',
    fallback: '30',
    description:
      'How long answers of /v1/responses are stored for previous_response_id, unless a request says store: false. 0: they are not stored.',
    schema: wholeNumber(0, 36_500),
  }),
  checkpointDir: setting<string | undefined>({
    variable: 'ORTLER_CHECKPOINT_DIR',
    flag: '--checkpoint-dir',
    valueName: 'folder',
    fallback: undefined,
    shownFallback: 'checkpoints in the data folder',
    description: 'Folder that must contain the weights of registered checkpoints.',
    schema: folder(),
  }),
} as const;
