// Operators of a graph on a device that fall back to the CPU and cost time: all but those that compute lengths and shapes,
// which ONNX Runtime keeps on the CPU on purpose. Caller: `../../create-step-runner.ts`.

/** Operators over a few numbers, in graphs whose lengths follow from the shapes of their inputs. */
const LENGTH_OPERATORS: ReadonlySet<string> = new Set(
  `Shape Size Gather Slice Concat Squeeze Unsqueeze Reshape Cast Range
  Add Sub Mul Div Min Max Equal Greater Less Where
  Expand ReduceSum ReduceMax ConstantOfShape Identity Constant`.split(/\s+/),
);

/** The other operators with their counts, as `MatMulInteger (12)`; undefined where there are none. */
export function describeCpuOperators(cpuOperators: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const operator of cpuOperators) {
    const type = operator.split(' ', 1)[0]!;
    if (!LENGTH_OPERATORS.has(type)) counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  if (counts.size === 0) return undefined;
  return [...counts].map(([type, count]) => `${type} (${count})`).join(', ');
}
