import { expect, it } from 'vitest';
import { createDatabaseChecks } from './database-checks.ts';

it('tells which databases answer, and counts silence as no answer', async () => {
  const checks = createDatabaseChecks([
    { name: 'well', ping: async () => undefined },
    { name: 'failing', ping: async () => Promise.reject(new Error('no')) },
    { name: 'silent', ping: () => new Promise(() => undefined) },
  ]);
  expect(await checks.check()).toEqual([
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
  for (let count = 0; count < 5; count++) await checks.check();
  expect(count).toBe(1);
});
