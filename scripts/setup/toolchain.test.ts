import { expect, test } from 'vitest';
import { hasMusl, hostRefusal } from './toolchain.mjs';

const reportOf = (header: object) => ({ excludeNetwork: false, getReport: () => ({ header }) });

test('a Linux whose Node names no glibc has musl', () => {
  expect(hasMusl(reportOf({}), 'linux')).toBe(true);
  expect(hasMusl(reportOf({ glibcVersionRuntime: '2.36' }), 'linux')).toBe(false);
  expect(hasMusl(reportOf({}), 'darwin')).toBe(false);
});

test('this machine is not refused', () => {
  expect(hostRefusal()).toBeUndefined();
});
