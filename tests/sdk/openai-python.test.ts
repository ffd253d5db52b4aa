// The openai SDK for Python against the running server. It needs a Python with that package: TEST_PYTHON
// names it (`.ci/run` makes one). Without it these checks are skipped, and the reason is shown.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startServer } from '../support/server.ts';

const python = process.env.TEST_PYTHON;
const CHECKS = [
  'models',
  'retrieve',
  'create',
  'stream',
  '401',
  '404',
  '400',
  'logprobs',
  'reasoning',
  'extra_body',
  'completions',
];

describe.skipIf(python === undefined)('openai SDK for Python (skipped unless TEST_PYTHON is set)', () => {
  test('lists, creates, streams and raises its error classes', async () => {
    const server = await startServer();
    try {
      const script = join(import.meta.dirname, 'openai_python.py');
      const { stdout } = await promisify(execFile)(python!, [script, `${server.url}/v1`, server.apiKey]);
      const reports = stdout
        .trim()
        .split('\n')
        .map(line => JSON.parse(line));
      expect(reports.filter(report => !report.ok)).toEqual([]);
      expect(reports.map(report => report.check)).toEqual(CHECKS);
    } finally {
      await server.dispose();
    }
  });
});
