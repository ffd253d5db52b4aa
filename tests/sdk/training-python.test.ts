// The public training client for Python against the running server. It needs a Python with that package: TEST_PYTHON
// names it (`.ci/run` makes one). Without it these checks are skipped, and the reason is shown.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startTinyServer } from '../support/tiny-server.ts';

const python = process.env.TEST_PYTHON;
const CHECKS = [
  'create',
  'conflict',
  'fresh',
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

describe.skipIf(python === undefined)(
  'training client for Python (skipped unless TEST_PYTHON is set)',
  () => {
    test('creates a model, logs groups, walks and deletes checkpoints', async () => {
      const server = await startTinyServer();
      try {
        const script = join(import.meta.dirname, 'training_python.py');
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
  },
);
