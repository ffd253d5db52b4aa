// The openai SDK for Python against the running server. It needs a Python with that package: TEST_PYTHON
// names it (`.ci/run` makes one). Without it these checks are skipped, and the reason is shown.

import { join } from 'node:path';
import { describe, test } from 'vitest';
import { expectPythonChecks, TEST_PYTHON } from '../support/python-checks.ts';
import { startServer } from '../support/server.ts';

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

describe.skipIf(TEST_PYTHON === undefined)(
  'openai SDK for Python (skipped unless TEST_PYTHON is set)',
  () => {
    test('lists, creates, streams and raises its error classes', async () => {
      const server = await startServer();
      try {
        await expectPythonChecks(join(import.meta.dirname, 'openai_python.py'), server, CHECKS);
      } finally {
        await server.dispose();
      }
    });
  },
);
