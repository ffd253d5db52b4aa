import { expect, test } from 'vitest';
import { ownCommand } from './own-command.ts';

test('a further command is named as the user can type it', () => {
  const clone = { npm_lifecycle_script: 'node scripts/run.mjs ortler' };
  expect(ownCommand('keys list', clone)).toBe('npm run ortler -- keys list');
  const start = { npm_lifecycle_script: 'node scripts/run.mjs start' };
  expect(ownCommand('keys create', start)).toBe('npm run ortler -- keys create');
  expect(ownCommand('doctor', { npm_lifecycle_event: 'npx', npm_lifecycle_script: 'ortler' })).toBe(
    'npx ortler doctor',
  );
  const ownScript = { npm_lifecycle_event: 'start', npm_lifecycle_script: 'ortler serve --port 80' };
  expect(ownCommand('doctor', ownScript)).toBe('ortler doctor');
  expect(ownCommand('doctor', {})).toBe('ortler doctor');
});
