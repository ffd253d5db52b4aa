// The identity of builds of a model with LongRoPE: one for contexts up to the original length, one for longer ones.

import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { computeContentHash } from '../src/content-hash.ts';
import { DECODER_GOLDENS, writeGoldenCheckpoint } from './decoder-golden.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const CASES = { longrope: 'longrope, short and long prompts', plain: 'plain' };

beforeAll(async () => {
  const { cases } = DECODER_GOLDENS.find(({ family }) => family === 'phi3')!;
  for (const [name, title] of Object.entries(CASES))
    await writeGoldenCheckpoint(join(folder, name), cases.find(golden => golden.name === title)!);
});

const hash = (name: keyof typeof CASES, contextLength?: number) =>
  computeContentHash({ sourceDir: join(folder, name), precision: 'q8', variant: 'kernels', contextLength });

describe('the context of a build', () => {
  it('makes two builds of a model with LongRoPE: up to the original length, and beyond', async () => {
    const long = await hash('longrope');
    expect(await hash('longrope', 85)).toBe(long);
    expect(await hash('longrope', 672)).toBe(long);
    const short = await hash('longrope', 84);
    expect(short).not.toBe(long);
    expect(await hash('longrope', 16)).toBe(short);
  });

  it('makes one build of any other model', async () => {
    expect(await hash('plain', 16)).toBe(await hash('plain'));
  });
});
