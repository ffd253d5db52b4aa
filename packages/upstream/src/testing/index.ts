// Doubles for tests of programs that use this package.

export { type FaultyServer, type Step, startFaultyServer, steps } from './faulty-server.ts';
