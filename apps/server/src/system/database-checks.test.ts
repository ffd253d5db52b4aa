import { expect, it } from 'vitest';
import { createDatabaseChecks } from './database-checks.ts';

it('reports which databases answer, and a timeout as unreachable', async () => {
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

it('pings once for all checks within a short time', async () => {
  let count = 0;
  const checks = createDatabaseChecks([
    {
      name: 'x',
      async ping() {
        count += 1;
      },
    },
  ]);
  for (let round = 0; round < 5; round++) await checks.check();
  expect(count).toBe(1);
});
