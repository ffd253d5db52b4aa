import { expect, it } from 'vitest';
import { childEnvironment } from './child-environment.ts';

it('keeps what Node, the loader and drivers need', () => {
  const needed = {
    PATH: '/bin',
    HOME: '/home/me',
    LC_ALL: 'C.UTF-8',
    TMPDIR: '/tmp',
    LD_LIBRARY_PATH: '/opt/lib',
    NODE_COMPILE_CACHE: '/cache',
    VK_ICD_FILENAMES: '/lvp.json',
    CUDA_VISIBLE_DEVICES: '0',
    OMP_NUM_THREADS: '2',
    SystemRoot: 'C:\\Windows',
  };
  expect(childEnvironment(needed)).toEqual(needed);
});

it.each([
  'ORTLER_API_KEY',
  'ORTLER_METRICS_KEY',
  'DATABASE_URL',
  'CLICKHOUSE_URL',
  'HF_TOKEN',
  'AWS_SECRET_ACCESS_KEY',
  'OPENAI_API_KEY',
  'PGPASSWORD',
  'NODE_AUTH_TOKEN',
  'NVIDIA_API_KEY',
  'npm_config__auth',
  'ANYTHING_ELSE',
])('leaves out %s', name => {
  expect(childEnvironment({ [name]: 'secret' })).toEqual({});
});
