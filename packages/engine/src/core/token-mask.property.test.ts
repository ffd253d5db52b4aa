import fc from 'fast-check';
import { expect, it } from 'vitest';
import { maskLogits, onlyAllowed, type TokenMask } from './token-mask.ts';

const word = fc.oneof(
  fc.constantFrom(0, 0, 0, 0xffffffff),
  fc.integer({ min: 0, max: 0xffffffff }),
  fc.nat(31).map(bit => 1 << bit),
);

it('leaves exactly the logits of allowed tokens, whatever the length of the row', () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), fc.nat(31), (list, missing) => {
      const words = Uint32Array.from(list);
      const logits = Float32Array.from({ length: list.length * 32 - missing }, (_, id) => id + 1);
      const isAllowed = (id: number) => ((words[id >>> 5]! >>> (id & 31)) & 1) === 1;
      const mask: TokenMask = { words, endTokenId: null, reasoningTokenId: null };
      const expected = logits.map((logit, id) => (isAllowed(id) ? logit : -Infinity));
      maskLogits(logits, mask);
      expect(logits).toEqual(expected);
      const allowed = Array.from({ length: list.length * 32 }, (_, id) => id).filter(isAllowed);
      expect(onlyAllowed(mask)).toBe(allowed.length === 1 ? allowed[0] : null);
    }),
  );
});
