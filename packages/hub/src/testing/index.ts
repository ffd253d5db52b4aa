// Public surface of @ortler/hub/testing: a Hub on this machine, with faults.

export { readFolder } from './hub-files.ts';
export type { Fault } from './send-content.ts';
export {
  type HubRepository,
  type LocalHub,
  type SeenRequest,
  startHub,
  TEST_TOKEN,
} from './start-hub.ts';
