import { expect, it } from 'vitest';
import { describeCpuOperators } from './cpu-operators.ts';

it('counts the operators that compute with more than lengths', () => {
  const left = ['Shape /rows/Shape', 'MatMulInteger /a', 'QuantizeLinear /b', 'MatMulInteger /c'];
  expect(describeCpuOperators(left)).toBe('MatMulInteger (2), QuantizeLinear (1)');
});

it('finds nothing where only lengths are computed', () => {
  expect(describeCpuOperators([])).toBeUndefined();
  expect(describeCpuOperators(['ReduceSum seqlens_k/ReduceSum', 'Cast seqlens_k/Cast'])).toBeUndefined();
});
