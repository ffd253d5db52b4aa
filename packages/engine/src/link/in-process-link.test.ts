import { coreLinkConformance } from '../../test/core-link-conformance.ts';
import { loadScriptedCore } from '../testing/scripted-core.ts';
import { createInProcessLink } from './in-process-link.ts';

coreLinkConformance('in-process', (options, policy) =>
  createInProcessLink(options, loadScriptedCore({ vocabSize: 1024 }), policy),
);
