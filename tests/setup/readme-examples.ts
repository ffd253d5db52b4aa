// The examples in the READMEs of the packages: their ```ts blocks as programs, with the output that they promise.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../support/server.ts';

/** Packages whose examples do not run by themselves, and what they need. */
const NEEDS: Readonly<Record<string, string>> = {
  'ai-sdk-provider': 'a model',
  api: 'a running server',
  engine: 'a model',
  'model-builder': 'a downloaded checkpoint',
  upstream: 'running servers',
};

export interface Example {
  /** Name of the file to write. */
  readonly file: string;
  readonly source: string;
  /**
   * What it prints: the comment after each `console.log(...)` and `process.stdout.write(...)`, at the end of the line or on the
   * next one.
   */
  readonly output: string;
  /** Part of another example, which runs it: a block that begins with a file name in a comment. */
  readonly isPart: boolean;
}

/** Folders in packages/ that hold a package. */
export function listPackages(): readonly string[] {
  const packages = join(REPOSITORY, 'packages');
  return readdirSync(packages).filter(name => existsSync(join(packages, name, 'package.json')));
}

/** The examples of a package that run anywhere. Throws: when a package has none and no reason for it. */
export function readExamples(name: string): readonly Example[] {
  if (Object.hasOwn(NEEDS, name)) return [];
  const readme = readFileSync(join(REPOSITORY, 'packages', name, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(match => match[1]!);
  if (blocks.length === 0) throw new Error(`The README of ${name} has no example.`);
  return blocks.map((source, i) => {
    const part = /^\/\/ (\S+\.ts)\n/.exec(source)?.[1];
    const printed = [...source.matchAll(/\b(console\.log|process\.stdout\.write)\(.*\);\s\/\/ (.*)$/gm)].map(
      ([, call, text]) => (call === 'console.log' ? `${text}\n` : text),
    );
    return {
      file: part ?? `example-${i + 1}.ts`,
      source,
      output: printed.join(''),
      isPart: part !== undefined,
    };
  });
}

export function writeExamples(folder: string, examples: readonly Example[]): void {
  for (const { file, source } of examples) writeFileSync(join(folder, file), source);
}

/** Standard output of an example, or its error. */
export function runExample(folder: string, { file }: Example, nodeOptions: readonly string[] = []): string {
  const { stdout, stderr } = spawnSync(process.execPath, [...nodeOptions, file], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
    // The home folder holds the cache of built models.
    env: { ...process.env, HOME: folder, NODE_OPTIONS: '', NO_COLOR: '1' },
  });
  return stdout + stderr;
}
