// Examples of the packages' READMEs, run from the sources. packages-alone.test.ts runs them from tarballs.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { REPOSITORY } from '../support/server.ts';
import { listPackages, readExamples, runExample, writeExamples } from './readme-examples.ts';

const packages = listPackages()
  .map(name => ({ name, examples: readExamples(name) }))
  .filter(({ examples }) => examples.length > 0);

describe('examples in READMEs', () => {
  test('are found in most packages', () => {
    expect(packages.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['jinja', 'json', 'onnx', 'onnxruntime', 'structured-output', 'worker']),
    );
  });

  test.each(packages)('of $name print what their comments say', ({ name, examples }) => {
    // Inside the package, where its own name resolves to its sources.
    const parent = join(REPOSITORY, 'packages', name, '.cache');
    mkdirSync(parent, { recursive: true });
    const folder = mkdtempSync(join(parent, 'readme-'));
    try {
      writeExamples(folder, examples);
      for (const example of examples.filter(({ isPart }) => !isPart))
        expect(runExample(folder, example, ['--conditions=@ortler/source'])).toBe(example.output);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
