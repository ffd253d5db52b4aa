import { join, sep } from 'node:path';
import fc from 'fast-check';
import { runs } from 'test-runs';
import { expect, test } from 'vitest';
import { RepositoryFolder } from './cache/layout.ts';
import { formatModelReference, isModelReference, parseModelReference } from './model-reference.ts';

const part = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,8}[A-Za-z0-9_]$/);
const revision = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._/-]{0,9}$/);
const quant = fc.option(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,9}$/), { nil: undefined });
const name = fc
  .tuple(part, part, fc.option(revision, { nil: undefined }), quant)
  .map(([owner, model, at, of]) => `${owner}/${model}${at ? `@${at}` : ''}${of ? `:${of}` : ''}`);
const numRuns = runs({ daily: 300, full: 5_000 });

test('a reference that is written is read as the same', () => {
  fc.assert(
    fc.property(name, text => {
      fc.pre(isModelReference(text));
      const reference = parseModelReference(text);
      expect(parseModelReference(formatModelReference(reference))).toEqual(reference);
    }),
    { numRuns },
  );
});

test('no reference leads out of the cache', () => {
  const pieces = fc.constantFrom('.', '..', '/', '-', '--', '@', ':', 'a', 'b', '\\', '\0', ' ', 'models');
  const texts = fc.oneof(
    name,
    fc.array(pieces, { maxLength: 12 }).map(all => `a/b@${all.join('')}`),
  );
  fc.assert(
    fc.property(texts, text => {
      if (!isModelReference(text)) return;
      const { repository, revision: at } = parseModelReference(text);
      const folder = new RepositoryFolder(`${sep}cache`, repository);
      const root = join(`${sep}cache`, `models--${repository.replace('/', '--')}`);
      expect(folder.root).toBe(root);
      expect(folder.ref(at).startsWith(join(root, 'refs') + sep)).toBe(true);
    }),
    { numRuns },
  );
});
