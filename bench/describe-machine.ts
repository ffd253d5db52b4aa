// The machine, its load and the versions that a result is reported with.

import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg } from 'node:os';

export interface MachineDescription {
  readonly commit: string;
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  readonly coreCount: number;
  /** Mean number of runnable threads over the last minute, this program's own included. */
  readonly load: number;
  readonly date: string;
}

export function describeMachine(): MachineDescription {
  return {
    commit: execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    coreCount: availableParallelism(),
    load: loadavg()[0]!,
    date: new Date().toISOString(),
  };
}
