// `ortler serve`: starts the server, prints how to use it, and shuts it down on a signal.

import type { CatalogModel } from '@ortler/api';
import type { DeviceChoice } from '@ortler/onnxruntime';
import type { Config } from '../../config/config.ts';
import { DatabaseError } from '../../db/database-errors.ts';
import type { TcpEndpoint } from '../../kv-events/tcp-endpoint.ts';
import { type RunningServer, startServer } from '../../main.ts';
import { isOperatorError } from '../../models/is-operator-error.ts';
import type { CatalogListener, DeviceListener } from '../../models/log-models.ts';
import type { CatalogEvent } from '../../models/model-catalog.ts';
import { disablePretenuring } from '../../system/disable-pretenuring.ts';
import { ownCommand } from '../../system/own-command.ts';
import { VERSION } from '../../system/version.ts';
import { type BuildBars, createBuildBars } from '../build-bars.ts';
import {
  describeDevice,
  describeModel,
  describeNotes,
  describePrecision,
  describeUpstream,
} from '../startup-report.ts';
import type { Terminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';

/** Exit code after a second Ctrl-C. Source: 128 + SIGINT, as shells do. */
const INTERRUPTED_EXIT_CODE = 130;

/**
 * Runs until a signal stops it. Messages for people go to standard output, because standard error carries only the log,
 * one JSON object per line. Throws: `UserError` when it cannot listen.
 */
export async function serve(config: Config, { out, isScreen }: Terminal): Promise<void> {
  disablePretenuring();
  const startedAtMs = performance.now();
  const bars = createBuildBars({ out, err: out, isScreen });
  const terminal: Terminal = { out: bars.print, err: bars.print, isScreen };
  using signals = awaitStopSignal(terminal, bars);
  const server = await listen(
    config,
    event => showEvent(event, terminal, bars),
    choice => showDevice(choice, terminal),
  );
  const stopped = signals.first.then(() => server.stop());
  showWelcome(server, config, terminal);
  await server.loaded;
  for (const { id, status } of server.catalog.list())
    if (status.kind === 'upstream') terminal.out(describeUpstream(id, status.upstream));
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
  const readyCount = server.catalog.list().filter(isReady).length;
  if (readyCount > 0) terminal.out(`\n  ready in ${seconds} s\n`);
  await stopped;
}

function isReady({ status }: CatalogModel): boolean {
  return status.kind === 'upstream' ? status.upstream.state === 'ready' : status.kind === 'ready';
}

async function listen(
  config: Config,
  onEvent: CatalogListener,
  onDevice: DeviceListener,
): Promise<RunningServer> {
  try {
    return await startServer(config, onEvent, onDevice);
  } catch (error) {
    if (error instanceof DatabaseError)
      throw new UserError(`${error.message}\nChoose another with ${settingOf(error, config)}.`, {
        cause: error,
      });
    throw toListenError(error as NodeJS.ErrnoException & { readonly port?: number }, config) ?? error;
  }
}

/** Undefined for an error of another kind. */
function toListenError(
  { code, syscall, port = 0 }: NodeJS.ErrnoException & { readonly port?: number },
  config: Config,
): UserError | undefined {
  const [flag, { host, port: chosen }] = listenersOf(config).find(
    ([, wanted]) => port !== 0 && wanted.port === port,
  ) ?? ['--port', config];
  if (code === 'EADDRINUSE')
    return new UserError(
      `Port ${chosen} of ${host} is in use. Stop what listens there, or choose another with ${flag}.`,
    );
  const isListening = syscall === 'listen' || syscall === 'getaddrinfo';
  if (isListening && (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND'))
    return new UserError(
      `Cannot listen on ${host}:${chosen} (${code}). Choose another ${flag === '--port' ? '--host or --port' : flag}.`,
    );
  return undefined;
}

/** Where a server listens besides its own port, by the flag that says so. */
function listenersOf({ host, metricsPort, kvEvents, kvEventsReplay }: Config) {
  const listeners: readonly (readonly [string, TcpEndpoint | undefined])[] = [
    ['--metrics-port', metricsPort === undefined ? undefined : { host, port: metricsPort }],
    ['--kv-events', kvEvents],
    ['--kv-events-replay', kvEventsReplay],
  ];
  return listeners.flatMap(([flag, place]) => (place === undefined ? [] : [[flag, place] as const]));
}

/** The setting that chooses the database that failed. */
function settingOf({ database }: DatabaseError, config: Config): string {
  if (database === 'clickhouse') return 'CLICKHOUSE_URL';
  return config.databaseUrl === undefined ? '--data-dir' : 'DATABASE_URL';
}

function showWelcome({ url, metricsUrl, firstKey }: RunningServer, config: Config, terminal: Terminal): void {
  const key = firstKey ?? '$ORTLER_API_KEY';
  terminal.out(`\nOrtler ${VERSION}\n\n`);
  terminal.out(`  server   ${url}   (documentation: ${url}/docs)\n`);
  if (metricsUrl !== undefined) terminal.out(`  metrics  ${metricsUrl}\n`);
  if (firstKey !== null) {
    terminal.out(`  API key  ${firstKey}\n`);
    terminal.out(`           Shown only now; its hash is stored in ${config.dataDir}.\n`);
    terminal.out(
      `           Lost it? Run \`${ownCommand('keys create')}\`, or start with ORTLER_API_KEY=<your key>.\n`,
    );
  }
  terminal.out(`
  curl ${url}/v1/chat/completions \\
    -H "Authorization: Bearer ${key}" \\
    -H 'Content-Type: application/json' \\
    -d '{"messages": [{"role": "user", "content": "What is the capital of France?"}]}'

`);
}

function showDevice(choice: DeviceChoice, terminal: Terminal): 'shown' | undefined {
  terminal.out(describeDevice(choice));
  return choice.isFallback && terminal.isScreen ? 'shown' : undefined;
}

/**
 * A failure is shown where standard error is a screen, on which the log would repeat it; elsewhere the log alone has it, as it
 * has faults of the program, with their stack. So it is with the notes on a model.
 */
function showEvent(event: CatalogEvent, terminal: Terminal, bars: BuildBars): 'shown' | undefined {
  const { modelId } = event;
  if (event.kind === 'preparing') {
    bars.update(modelId, event.progress);
    return undefined;
  }
  if (event.kind === 'notice') {
    terminal.out(`  model    ${modelId}: ${event.message}\n`);
    return undefined;
  }
  bars.end(modelId);
  if (event.kind === 'precision') {
    terminal.out(`  model    ${modelId}: built as ${describePrecision(event.choice)}\n`);
    return undefined;
  }
  if (event.kind === 'failed') {
    const { error, retryAfterMs } = event;
    if (!terminal.isScreen || !isOperatorError(error)) return undefined;
    const next = retryAfterMs === undefined ? '' : ` Next attempt in ${Math.ceil(retryAfterMs / 1000)} s.`;
    terminal.out(`  model    ${modelId} cannot be served: ${error.message}${next}\n`);
    return 'shown';
  }
  const { info } = event.engine;
  terminal.out(describeModel(modelId, info));
  if (!terminal.isScreen) return undefined;
  terminal.out(describeNotes(info));
  return 'shown';
}

interface StopSignals extends Disposable {
  /** Resolves at the first signal. */
  readonly first: Promise<void>;
}

/**
 * Graceful shutdown: the first signal drains, the second exits at once. One that comes during the start drains after it: the
 * first process of a container has no handling of signals but this. Model processes exit when their channel closes. A hangup
 * drains too but never exits at once: its signal may arrive twice, from the system and from the parent process.
 */
function awaitStopSignal(terminal: Terminal, bars: BuildBars): StopSignals {
  const { promise: first, resolve } = Promise.withResolvers<void>();
  let isStopping = false;
  const onSignal = () => {
    if (isStopping) process.exit(INTERRUPTED_EXIT_CODE);
    isStopping = true;
    bars.close();
    terminal.out('\nStopping after open requests. Press Ctrl-C again to stop at once.\n');
    resolve();
  };
  const onHangup = () => {
    if (!isStopping) onSignal();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('SIGHUP', onHangup);
  return {
    first,
    [Symbol.dispose]() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
      process.off('SIGHUP', onHangup);
    },
  };
}
