// The public training client for Python against the running server. It needs a Python with that package: TEST_PYTHON
// names it (`.ci/run` makes one). Without it these checks are skipped, and the reason is shown.

import { join } from 'node:path';
import { describe, test } from 'vitest';
import { expectPythonChecks, TEST_PYTHON } from '../support/python-checks.ts';
import { startTinyServer } from '../support/tiny-server.ts';

const CHECKS = [
  'create',
  'conflict',
  'fresh',
  'rollout before training',
  'log',
  'refused log',
  'list',
  'pages',
  'metrics',
  'delete steps',
  'after delete',
  'no jobs',
  '401',
  'delete',
  'gone',
];

describe.skipIf(TEST_PYTHON === undefined)(
  'training client for Python (skipped unless TEST_PYTHON is set)',
  () => {
    test('creates a model, logs groups, walks and deletes checkpoints', async () => {
      const server = await startTinyServer();
      try {
        await expectPythonChecks(join(import.meta.dirname, 'training_python.py'), server, CHECKS);
      } finally {
        await server.dispose();
      }
    });
  },
);
