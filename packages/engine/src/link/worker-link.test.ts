import { entryModule } from '@ortler/worker';
import { coreLinkConformance } from '../../test/core-link-conformance.ts';
import { createWorkerLink } from './worker-link.ts';

const entry = entryModule('../testing/scripted-worker-entry', import.meta.url);

coreLinkConformance('worker', (options, policy) => createWorkerLink(options, { entry, policy }));
