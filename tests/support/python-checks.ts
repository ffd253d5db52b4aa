// A Python client run against a server by a script that prints one line of JSON for each check. TEST_PYTHON names a Python
// with its packages (`.ci/run` makes one).

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';

export const TEST_PYTHON = process.env.TEST_PYTHON;

/** Every check must pass, and they must be these, in this order. */
export async function expectPythonChecks(
  script: string,
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
  checks: readonly string[],
): Promise<void> {
  const { stdout } = await promisify(execFile)(TEST_PYTHON!, [script, `${url}/v1`, apiKey]);
  const reports = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  expect(reports.filter(report => !report.ok)).toEqual([]);
  expect(reports.map(report => report.check)).toEqual(checks);
}
