// Prometheus metrics of the server process: memory, CPU time, start time. Caller: `metrics.ts`.

import { Counter, Gauge, type Registry } from 'prom-client';

/** Registers the metrics under their standard names. Models run in other processes and are not included. */
export function measureProcess(registry: Registry): void {
  const registers = [registry];
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
