import { expect, it } from 'vitest';
import { describeLongRope } from './explain-long-rope.ts';

it.each(['short', 'long'] as const)('a build with %s factors needs another build for the others', factors => {
  const choice = { factors, originalContextLength: 4096 };
  expect(describeLongRope(choice)).toMatch(/4,096 tokens; a .*--context-length\b(?!.* in a build)/);
  expect(describeLongRope(choice, { isBuilt: true })).toMatch(
    /--context-length.* in a build of the checkpoint takes/,
  );
});
