import { describe, expect, it } from 'vitest';
import { activationBytes, roundUpToFloat16 } from './float16.ts';

/** Value of float16 bits. */
function float16(bits: number): number {
  return new Float16Array(Uint16Array.of(bits).buffer)[0]!;
}

describe('roundUpToFloat16', () => {
  it('gives every float16 for itself, and the next one for anything above it', () => {
    const wrong: { readonly bits: number; readonly share: number }[] = [];
    for (let bits = 0; bits < 0x7bff; bits++) {
      const [value, next] = [float16(bits), float16(bits + 1)];
      const step = next - value;
      if (!Object.is(roundUpToFloat16(value), value)) wrong.push({ bits, share: 0 });
      for (const share of [1e-6, 0.25, 0.5, 0.75, 1])
        if (!Object.is(roundUpToFloat16(value + share * step), next)) wrong.push({ bits, share });
    }
    expect(wrong).toEqual([]);
  });
});

describe('activationBytes', () => {
  it('leaves float32 as it is, without a copy', () => {
    const values = Float32Array.of(1, 70_000);
    expect(activationBytes(values, 'float32', 'w').buffer).toBe(values.buffer);
  });

  it('rounds to the nearest float16, ties to even', () => {
    const bytes = activationBytes(Float32Array.of(1, -2, 1 + 2 ** -11, 65_504, 2 ** -24), 'float16', 'w');
    expect([...new Uint16Array(bytes.buffer)]).toEqual([0x3c00, 0xc000, 0x3c00, 0x7bff, 0x0001]);
  });

  it('refuses a value out of the range of float16 and names it', () => {
    expect(() => activationBytes(Float32Array.of(1, -70_000), 'float16', 'model.norm.weight')).toThrow(
      expect.objectContaining({
        code: 'unsupported',
        tensor: 'model.norm.weight',
        message: expect.stringContaining('model.norm.weight holds -70000'),
      }),
    );
  });
});
