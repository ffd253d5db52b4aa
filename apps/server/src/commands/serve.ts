// `ortler serve`: starts the server, tells the operator how to use it, and stops it on a signal.

import type { DeviceChoice } from '@ortler/onnxruntime';
import type { Config } from '../config/config.ts';
import { DatabaseError } from '../db/database-errors.ts';
import { type RunningServer, startServer } from '../main.ts';
import type { CatalogEvent } from '../models/model-catalog.ts';
import { VERSION } from '../system/version.ts';
import { type BuildBars, createBuildBars } from './build-bars.ts';
import { describeDevice } from './describe-device.ts';
import { describeModel } from './describe-model.ts';
import type { Terminal } from './terminal.ts';
import { UserError } from './user-error.ts';

/** Exit code of a process that a second Ctrl-C ended. */
const INTERRUPTED_EXIT_CODE = 130;

/**
 * Runs until a signal stops it. What it tells people goes to standard output: without a screen standard error is the
 * log's alone, one JSON object a line. Throws: `UserError` when it cannot listen.
 */
export async function serve(config: Config, { out, isScreen }: Terminal): Promise<void> {
  const terminal: Terminal = { out, err: out, isScreen };
  const startedAtMs = performance.now();
  const bars = createBuildBars(terminal);
  const server = await listen(
    config,
    event => showEvent(event, terminal, bars),
    choice => terminal.out(describeDevice(choice)),
  );
  const stopped = stopOnSignal(server, terminal);
  showWelcome(server, config, terminal);
  await server.loaded;
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
  const readyCount = server.catalog.list().filter(({ status }) => status.kind === 'ready').length;
  if (readyCount > 0) terminal.out(`\n  ready in ${seconds} s\n`);
  await stopped;
}

async function listen(
  config: Config,
  onEvent: (event: CatalogEvent) => void,
  onDevice: (choice: DeviceChoice) => void,
): Promise<RunningServer> {
  try {
    return await startServer(config, onEvent, onDevice);
  } catch (error) {
    if (error instanceof DatabaseError)
      throw new UserError(`${error.message}\nChoose another with ${settingOf(error, config)}.`, {
        cause: error,
      });
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw new UserError(
        `Port ${config.port} of ${config.host} is in use. Stop what listens there, or choose another with --port.`,
      );
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new UserError(
        `Cannot listen on ${config.host}:${config.port} (${code}). Choose another --host or --port.`,
      );
    throw error;
  }
}

/** The setting that names the database that failed. */
function settingOf({ database }: DatabaseError, config: Config): string {
  if (database === 'clickhouse') return 'CLICKHOUSE_URL';
  return config.databaseUrl === undefined ? '--data-dir' : 'DATABASE_URL';
}

function showWelcome({ url, firstKey }: RunningServer, config: Config, terminal: Terminal): void {
  const key = firstKey ?? '$ORTLER_API_KEY';
  terminal.out(`\nOrtler ${VERSION}\n\n`);
  terminal.out(`  server   ${url}   (documentation: ${url}/docs)\n`);
  if (firstKey !== null) {
    terminal.out(`  API key  ${firstKey}\n`);
    terminal.out(`           Shown this once; only its hash is kept, in ${config.dataDir}.\n`);
    terminal.out('           Lost it? Start with ORTLER_API_KEY=<a key of yours>.\n');
  }
  terminal.out(`
  curl ${url}/v1/chat/completions \\
    -H "Authorization: Bearer ${key}" \\
    -H 'Content-Type: application/json' \\
    -d '{"messages": [{"role": "user", "content": "What is the capital of France?"}]}'

`);
}

function showEvent(event: CatalogEvent, terminal: Terminal, bars: BuildBars): void {
  const { modelId } = event;
  if (event.kind === 'building') {
    bars.update(modelId, event.progress);
    return;
  }
  bars.end(modelId);
  if (event.kind === 'failed') {
    const message = event.error instanceof Error ? event.error.message : String(event.error);
    const { retryAfterMs } = event;
    const next =
      retryAfterMs === undefined ? '' : ` It is tried again in ${Math.ceil(retryAfterMs / 1000)} s.`;
    terminal.out(`  model    ${modelId} cannot be served: ${message}${next}\n`);
    return;
  }
  terminal.out(describeModel(modelId, event.engine.info));
}

// The first signal drains, the second ends at once. Model processes end with their channel to this one. A lost terminal drains
// too, and never ends at once: its signal may come twice, from the system and from whoever started the server.
function stopOnSignal(server: RunningServer, terminal: Terminal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let isStopping = false;
  const onSignal = () => {
    if (isStopping) process.exit(INTERRUPTED_EXIT_CODE);
    isStopping = true;
    terminal.out('\nStopping: open answers may end. Press Ctrl-C again to stop at once.\n');
    server.stop().then(resolve, reject);
  };
  const onHangup = () => {
    if (!isStopping) onSignal();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('SIGHUP', onHangup);
  return promise.finally(() => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    process.off('SIGHUP', onHangup);
  });
}
