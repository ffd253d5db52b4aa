import { expect, it } from 'vitest';
import { checkVersions } from './check-machine.ts';

it('is content with Node', () => {
  expect(checkVersions()).toMatchObject({
    state: 'ok',
    detail: expect.stringContaining(process.versions.node),
  });
});

it.each([
  ['Bun 1.4.5', { node: '26.3.0', bun: '1.4.5' }],
  ['Deno 2.9.6', { node: '26.3.0', deno: '2.9.6' }],
])('names %s as what it is, and warns', (runtime, versions) => {
  const { state, detail, remedy } = checkVersions(versions);
  expect({ state, remedy }).toEqual({ state: 'warning', remedy: expect.stringContaining('run it on Node') });
  expect(detail).toContain(`, ${runtime}, `);
  expect(detail).not.toContain('26.3.0');
});
