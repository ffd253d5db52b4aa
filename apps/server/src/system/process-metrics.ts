// What the server's own process uses. Caller: `metrics.ts`.

import { Counter, Gauge, type Registry } from 'prom-client';

/** Adds the metrics, under the names that every exporter uses. Models have processes of their own. */
export function measureProcess(registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory of the server process, without those of its models.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the server process, without those of its models.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1_000_000);
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'When the server process started, in seconds since 1970.',
    registers,
    collect() {
      this.set(performance.timeOrigin / 1000);
    },
  });
}
