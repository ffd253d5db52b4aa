import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readPartitionSalt, toCachePartition } from './cache-partition.ts';

const principal = fc.record({ keyId: fc.string(), team: fc.string() }, { requiredKeys: ['keyId'] });
const salt = fc.option(fc.string({ minLength: 1 }), { nil: undefined });
const owner = ({ keyId, team }: { keyId: string; team?: string }) =>
  team === undefined ? { keyId } : { team };

it('is the same exactly for the same team, or key without a team, and the same salt', () => {
  fc.assert(
    fc.property(principal, salt, principal, salt, (a, saltA, b, saltB) => {
      const same = toCachePartition(a, saltA, 'team') === toCachePartition(b, saltB, 'team');
      const alike = JSON.stringify([owner(a), saltA ?? null]) === JSON.stringify([owner(b), saltB ?? null]);
      expect(same).toBe(alike);
    }),
  );
});

it('keys of one team share, and a key without a team shares with nobody', () => {
  const of = (keyId: string, team?: string) =>
    toCachePartition(team === undefined ? { keyId } : { keyId, team }, null, 'team');
  expect(of('a', 'x')).toBe(of('b', 'x'));
  expect(of('a')).not.toBe(of('b'));
  expect(of('x')).not.toBe(of('a', 'x'));
});

it('is shared by all callers where the operator says so, and still split by salt', () => {
  const of = (keyId: string, given?: string) => toCachePartition({ keyId }, given, 'server');
  expect(of('a')).toBe(of('b'));
  expect(of('a', 's')).toBe(of('b', 's'));
  expect(of('a', 's')).not.toBe(of('a'));
});

it('gives the salt of a partition back, in every scope and for every caller', () => {
  for (const scope of ['team', 'server'] as const)
    for (const caller of [{ keyId: 'k' }, { keyId: 'k', team: 'acme' }])
      for (const salt of [null, '', 'a,"b"]'])
        expect(readPartitionSalt(toCachePartition(caller, salt, scope))).toBe(salt);
});
