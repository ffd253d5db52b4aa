import { expect, it } from 'vitest';
import { createDatabaseChecks } from './database-checks.ts';

it('tells which databases answer, and counts silence as no answer', async () => {
  const checks = createDatabaseChecks([
    { name: 'well', ping: async () => undefined },
    { name: 'failing', ping: async () => Promise.reject(new Error('no')) },
    { name: 'silent', ping: () => new Promise(() => undefined) },
  ]);
  expect(await checks.look()).toEqual([
    { name: 'well', state: 'ready' },
    { name: 'failing', state: 'unreachable' },
    { name: 'silent', state: 'unreachable' },
  ]);
});

it('asks once for everybody who looks at the same time', async () => {
  let count = 0;
  const checks = createDatabaseChecks([
    {
      name: 'x',
      async ping() {
        count += 1;
      },
    },
  ]);
  for (let look = 0; look < 5; look++) await checks.look();
  expect(count).toBe(1);
});
