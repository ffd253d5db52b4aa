// Main module of the child process that tries a device; started by choose-device.ts with the device's name.

import { probeDevice } from './probe-device.ts';

/** Result of the probe. */
export type ProbeReport =
  | { readonly kind: 'works'; readonly facts: Awaited<ReturnType<typeof probeDevice>> }
  | { readonly kind: 'fails'; readonly reason: string };

const device = process.argv[2] as Parameters<typeof probeDevice>[0];
const report: ProbeReport = await probeDevice(device).then(
  facts => ({ kind: 'works', facts }),
  error => ({ kind: 'fails', reason: error instanceof Error ? error.message : String(error) }),
);
// A provider may hang or crash while it is unloaded; what it could do is known by now.
process.send?.(report, undefined, undefined, () => process.exit(0));
