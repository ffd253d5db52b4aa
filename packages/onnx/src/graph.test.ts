import { expect, it } from 'vitest';
import { GraphRecorder } from './graph.ts';

it('refuses a name that was given before', () => {
  const graph = new GraphRecorder();
  graph.input('x', 'float32', [1]);
  graph.op('/twice', 'Relu', ['x']);
  expect(() => graph.op('/twice', 'Relu', ['x'])).toThrow('/twice/output_0 is used twice');
});

it('refuses an operator that reads what nothing made', () => {
  expect(() => new GraphRecorder().op('/a', 'Relu', ['x'])).toThrow('/a reads x');
});

it('refuses an output that nothing made', () => {
  expect(() => new GraphRecorder().output('y', 'float32', [1])).toThrow('graph output y');
});

it('lets any number of optional inputs and outputs be absent', () => {
  const graph = new GraphRecorder();
  graph.input('x', 'float32', [1]);
  expect(graph.op('/a', 'Some', ['x', '', ''], { outputs: ['first', '', '', 'last'] })).toBe('first');
});
