// Prometheus metrics of the server process: memory, CPU time, start time, delay of the event loop. Caller: `metrics.ts`.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, type Registry } from 'prom-client';

/** How often the delay is sampled: often enough to detect a pause of 50 ms. */
const EVENT_LOOP_RESOLUTION_MS = 10;

/** Registers the metrics under their standard names. Models run in other processes and are not included. */
export function measureProcess(registry: Registry): void {
  const registers = [registry];
  const delay = monitorEventLoopDelay({ resolution: EVENT_LOOP_RESOLUTION_MS });
  delay.enable();
  // The names of prom-client's default metrics. Each scrape reads the time since the last one.
  const inSeconds = (nanoseconds: number) => (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0);
  new Gauge({
    name: 'nodejs_eventloop_lag_p99_seconds',
    help: '99th percentile of the delay of the event loop since the last scrape.',
    registers,
    // Before the maximum, which begins a new period.
    collect() {
      this.set(inSeconds(delay.percentile(99)));
    },
  });
  new Gauge({
    name: 'nodejs_eventloop_lag_max_seconds',
    help: 'Longest delay of the event loop since the last scrape.',
    registers,
    collect() {
      this.set(inSeconds(delay.max));
      delay.reset();
    },
  });
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the server process, without model processes.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the server process, without model processes.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1_000_000);
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the server process, in seconds since 1970.',
    registers,
    collect() {
      this.set(performance.timeOrigin / 1000);
    },
  });
}
