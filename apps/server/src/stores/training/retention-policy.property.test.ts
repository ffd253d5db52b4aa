import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RetentionChoice } from './retention-policy.ts';

const scores = fc.option(fc.integer({ min: -5, max: 5 }), { nil: undefined });

it('keeps exactly the newest and the best, in whatever order they come', () => {
  fc.assert(
    fc.property(
      fc.array(scores, { maxLength: 60 }),
      fc.nat(20),
      fc.nat(20),
      fc.nat(),
      (given, newest, best, turn) => {
        const candidates = given.map((score, order) => ({ order, score }));
        const choice = new RetentionChoice<(typeof candidates)[number]>({
          newestCount: newest,
          bestCount: best,
        });
        for (const [index] of candidates.entries())
          choice.add(candidates[(index + turn) % candidates.length]!);
        const kept = choice.kept();
        for (const candidate of candidates) {
          const newer = candidates.filter(other => other.order > candidate.order).length;
          const better = candidates.filter(
            other =>
              other.score !== undefined &&
              (other.score > candidate.score! ||
                (other.score === candidate.score && other.order > candidate.order)),
          ).length;
          const isBest = candidate.score !== undefined && better < best;
          expect(kept.has(candidate)).toBe(newer < newest || isBest);
        }
      },
    ),
  );
});

it('keeps the right ones of very many', () => {
  const choice = new RetentionChoice<{ order: number; score: number }>({ newestCount: 3, bestCount: 2 });
  for (let order = 0; order < 50_000; order++) choice.add({ order, score: (order * 7919) % 50_021 });
  expect([...choice.kept()].map(({ order }) => order).slice(0, 3)).toEqual([49_999, 49_998, 49_997]);
  expect(choice.kept().size).toBe(5);
});
