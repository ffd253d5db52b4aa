// For one family: pieces joined are the whole text, and no piece cuts a character. Run by tokenizers.test.ts.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Detokenizer, detokenize } from '../src/text/detokenizer.ts';
import { type Family, loadFamily } from './tokenizer-families.ts';

export function detokenizerSuite(family: Family): void {
  test('joined pieces of random ids are the whole text', () => {
    const { tokenBytes } = loadFamily(family);
    const id = fc.oneof(fc.nat(tokenBytes.size - 1), fc.nat(Math.min(600, tokenBytes.size - 1)));
    fc.assert(
      fc.property(fc.array(id, { maxLength: 30 }), fc.boolean(), (ids, skipSpecialTokens) => {
        const detokenizer = new Detokenizer(tokenBytes, { skipSpecialTokens });
        const joined = ids.map(each => detokenizer.push(each)).join('') + detokenizer.finish();
        expect(joined).toBe(detokenize(tokenBytes, ids, { skipSpecialTokens }));
      }),
    );
  });

  test('every piece of a real text is whole characters, and nothing is replaced', () => {
    const tokenizer = loadFamily(family);
    const text = 'Hi 👨‍👩‍👧‍👦 日本語 مرحبا 𐍈𐌰 e\u0301 🇩🇪!';
    const ids = tokenizer.encode(text, { addSpecialTokens: false });
    const detokenizer = new Detokenizer(tokenizer.tokenBytes, { skipSpecialTokens: false });
    const pieces = ids.map(id => detokenizer.push(id));
    for (const piece of pieces) expect(piece).not.toContain('\ufffd');
    expect(pieces.every(piece => piece.isWellFormed())).toBe(true);
    expect(pieces.join('').normalize()).toBe(text.normalize());
    expect(detokenizer.finish()).toBe('');
  });

  test('a character that the first part began and the next does not complete belongs to the first part', () => {
    const tokenizer = loadFamily(family);
    const options = { skipSpecialTokens: true };
    const ids = tokenizer.encode(' 𐍈', { addSpecialTokens: false });
    const next = tokenizer.encode('a', { addSpecialTokens: false }).at(-1)!;
    for (let cut = 1; cut < ids.length; cut++) {
      const prompt = ids.slice(0, cut);
      const before = detokenize(tokenizer.tokenBytes, prompt, options);
      const after = new Detokenizer(tokenizer.tokenBytes, { ...options, promptTokenIds: prompt });
      expect(before + after.push(next)).toBe(detokenize(tokenizer.tokenBytes, [...prompt, next], options));
    }
  });

  test('a text cut anywhere continues after its first part as in the whole', () => {
    const tokenizer = loadFamily(family);
    const text = ' Hello  world, 👍 ok';
    const ids = tokenizer.encode(text, { addSpecialTokens: true });
    const options = { skipSpecialTokens: true };
    const whole = detokenize(tokenizer.tokenBytes, ids, options);
    for (let cut = 0; cut <= ids.length; cut++) {
      const prompt = ids.slice(0, cut);
      const before = new Detokenizer(tokenizer.tokenBytes, options);
      const promptText = prompt.map(id => before.push(id)).join('');
      const after = new Detokenizer(tokenizer.tokenBytes, { ...options, promptTokenIds: prompt });
      expect(
        promptText +
          ids
            .slice(cut)
            .map(id => after.push(id))
            .join(''),
      ).toBe(whole);
    }
  });
}
