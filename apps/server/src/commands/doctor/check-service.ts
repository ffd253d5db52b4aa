// Checks of what a server would use, for `ortler doctor`: disk, databases, models, address. Nothing is created or changed.

import { accessSync, constants, existsSync, readlinkSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { formatBytes, parseModelSource } from '@ortler/hub';
import type { Config } from '../../config/config.ts';
import { isOwnModel } from '../../config/model-list.ts';
import { pingClickHouse } from '../../db/clickhouse/open-clickhouse.ts';
import { messageOf, withoutPassword } from '../../db/database-errors.ts';
import { pingPostgres } from '../../db/postgres/open-postgres.ts';
import { checkPages, findDatabaseFile } from '../../db/sqlite/check-database-file.ts';
import { DATABASE_FILE } from '../../db/sqlite/open-sqlite.ts';
import { checkDisk } from '../../system/check-disk.ts';
import { ownCommand } from '../../system/own-command.ts';
import type { Finding } from './finding.ts';

export async function checkDataFolder({
  dataDir,
  lowDiskBytes,
}: Pick<Config, 'dataDir' | 'lowDiskBytes'>): Promise<Finding> {
  const subject = 'disk';
  const folder = nearestExisting(dataDir);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    return { subject, state: 'problem', detail: dataDir, remedy: notAFolder(folder) };
  const { state, free_bytes: freeBytes } = await checkDisk(folder, lowDiskBytes);
  const free = freeBytes === undefined ? '' : `, ${formatBytes(freeBytes)} free`;
  const detail = `${dataDir}${folder === dataDir ? '' : ' (will be created)'}${free}`;
  if (state === 'ok') return { subject, state, detail };
  if (state === 'low') {
    const remedy = `make room: \`${ownCommand('models prune')}\`, \`models list\` and \`models remove\`, or another --data-dir`;
    return { subject, state: 'warning', detail, remedy };
  }
  const remedy = `nothing can be written there (${state}): make room, change the permission, or choose another --data-dir`;
  return { subject, state: 'problem', detail, remedy };
}

export async function checkDatabase({
  dataDir,
  databaseUrl,
}: Pick<Config, 'dataDir' | 'databaseUrl'>): Promise<Finding> {
  const subject = 'database';
  if (databaseUrl !== undefined) {
    const place = withoutPassword(databaseUrl);
    try {
      return { subject, state: 'ok', detail: `${place}: ${await pingPostgres(databaseUrl)}` };
    } catch (error) {
      const remedy = 'start it, or correct DATABASE_URL; PostgreSQL 15 or later is needed';
      return { subject, state: 'problem', detail: `${place}: ${(error as Error).message}`, remedy };
    }
  }
  const file = join(dataDir, DATABASE_FILE);
  try {
    if (!(await findDatabaseFile(file))) return { subject, state: 'ok', detail: `${file} (will be created)` };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const remedy = code === 'ENOTDIR' ? notAFolder(nearestExisting(dataDir)) : message;
    return { subject, state: 'problem', detail: file, remedy };
  }
  const damage = await checkPages(file).result;
  if (damage === null) return { subject, state: 'ok', detail: `${file}: all pages are sound` };
  const remedy = 'restore it from a backup, or try `sqlite3 FILE .recover`';
  return { subject, state: 'problem', detail: `${file}: ${damage}`, remedy };
}

export async function checkClickHouse({ clickhouseUrl }: Pick<Config, 'clickhouseUrl'>): Promise<Finding[]> {
  if (clickhouseUrl === undefined) return [];
  const subject = 'ClickHouse';
  const place = withoutPassword(clickhouseUrl);
  try {
    return [{ subject, state: 'ok', detail: `${place}: ${await pingClickHouse(clickhouseUrl)}` }];
  } catch (error) {
    const remedy = 'start it, or correct CLICKHOUSE_URL; ClickHouse 24.8 or later is needed';
    return [{ subject, state: 'problem', detail: `${place}: ${messageOf(error)}`, remedy }];
  }
}

export function checkModels({ models, offline }: Pick<Config, 'models' | 'offline'>): Finding[] {
  return models.map((model): Finding => {
    const subject = `model ${model.id}`;
    if (!isOwnModel(model)) {
      const detail = `${model.name}, answered by ${model.urls.join(', ')}; a running server says in /health whether they do`;
      return { subject, state: 'ok', detail };
    }
    const { source } = model;
    const parsed = parseModelSource(source);
    if (parsed.kind === 'hub') {
      const detail = `${source}, fetched from the Hub where the cache does not have it`;
      if (offline !== true) return { subject, state: 'ok', detail };
      return { subject, state: 'ok', detail: `${source}, from the cache, because the server is offline` };
    }
    try {
      accessSync(parsed.path, constants.R_OK);
      return { subject, state: 'ok', detail: parsed.path };
    } catch (error) {
      const remedy =
        (error as NodeJS.ErrnoException).code === 'EACCES'
          ? 'let this user read it, or run as one who may'
          : 'correct --models: there is no such folder or file';
      return { subject, state: 'problem', detail: parsed.path, remedy };
    }
  });
}

export async function checkAddress({ host, port }: Pick<Config, 'host' | 'port'>): Promise<Finding> {
  const subject = 'address';
  const place = `${host}:${port}`;
  const fault = await tryToListen(host, port);
  const isOurs = fault === 'EADDRINUSE' && (await isOurServer(host, port));
  const detail = isOurs ? `${place}, where an Ortler server answers` : place;
  if (fault === 'EADDRINUSE' && !isOurs) {
    const remedy = 'another program listens there: end it, or choose another --port';
    return { subject, state: 'problem', detail: `${place} is in use`, remedy };
  }
  if (fault !== undefined && !isOurs) {
    const remedy = 'choose another --host or --port';
    return { subject, state: 'problem', detail: `${place} cannot be listened on (${fault})`, remedy };
  }
  if (/^(127\.|::1$|localhost$)/.test(host)) return { subject, state: 'ok', detail };
  const remedy = 'others can reach it without encryption: put a proxy with TLS before it, see docs/nginx.md';
  return { subject, state: 'warning', detail, remedy };
}

/** Whether what listens there gives the health of an Ortler server. */
async function isOurServer(host: string, port: number): Promise<boolean> {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const url = `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}/health`;
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    const health = (await reply.json()) as Partial<Record<string, unknown>>;
    return Array.isArray(health.models) && Array.isArray(health.databases);
  } catch {
    return false;
  }
}

function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

function notAFolder(path: string): string {
  const target = linkTarget(path);
  const kind =
    target === undefined ? 'a file, not a folder' : `a link to ${target}, which leads to no folder`;
  return `${path} is ${kind}: choose another --data-dir`;
}

/** The path, or the innermost folder around it. A link exists, also one that leads nowhere. */
function nearestExisting(path: string): string {
  const exists = existsSync(path) || linkTarget(path) !== undefined;
  return exists || dirname(path) === path ? path : nearestExisting(dirname(path));
}

/** Undefined for what is no link. */
function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
