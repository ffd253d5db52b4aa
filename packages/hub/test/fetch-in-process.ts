// Fetches a model in a process of its own, which a test kills: node fetch-in-process.ts <endpoint> <cache> <name>

import { fetchModel } from '@ortler/hub';
import { TUNING } from './small-tuning.ts';

const [endpoint, cacheDir, name] = process.argv.slice(2);
const { path } = await fetchModel(name!, {
  endpoint,
  cacheDir,
  variables: {},
  tuning: { ...TUNING, silenceMs: 60_000 },
  onNotice: message => console.log(`notice ${message}`),
  onProgress: ({ doneBytes }) => console.log(`done ${doneBytes}`),
});
console.log(`path ${path}`);
