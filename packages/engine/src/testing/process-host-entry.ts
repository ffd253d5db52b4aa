// A process that hosts a model process and reports its id; a test kills it to see that no orphan remains.

import { entryModule } from '@ortler/worker';
import { createProcessLink } from '../link/process-link.ts';
import { SCRIPTED_CORE_OPTIONS } from './scripted-core.ts';

let pid = 0;
const link = createProcessLink(SCRIPTED_CORE_OPTIONS, {
  entry: entryModule('./scripted-process-entry', import.meta.url),
  onOutput: () => undefined,
  onSpawn: childPid => {
    pid = childPid;
  },
});
await link.start({ onMessage: () => undefined, onDown: () => undefined, onReady: () => undefined });
process.send?.(pid);
