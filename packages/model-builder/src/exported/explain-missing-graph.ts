// Words for an export that has no graph of a precision.

import { EXPORT_PRECISIONS, type GraphVariant, type Precision } from '@ortler/engine/graph-contract';

const NONE_FOR_CPU =
  'none of them can run on the CPU: it must be model.onnx, model_q8.onnx or model_q4.onnx, and graphs in float16 need a GPU';

const NONE_FOR_GPU =
  'none of them can run: it must be model_q4f16.onnx, model_fp16.onnx, model.onnx, model_q8.onnx or model_q4.onnx';

const NOTHING_USABLE: Readonly<Record<GraphVariant, string>> = {
  kernels: NONE_FOR_CPU,
  slots: NONE_FOR_CPU,
  paged: NONE_FOR_GPU,
  'device-slots': NONE_FOR_GPU,
};

/** Continues the name of the folder: "has no graph of precision q4; it has ...". */
export function explainMissingGraph(
  { graphs, names }: { readonly graphs: ReadonlyMap<Precision, unknown>; readonly names: readonly string[] },
  { precision, variant }: { readonly precision: Precision; readonly variant: GraphVariant },
): string {
  const usable = EXPORT_PRECISIONS.filter(entry => graphs.has(entry));
  const choice =
    usable.length === 0 ? NOTHING_USABLE[variant] : `choose the precision ${usable.join(' or ')}`;
  return `has no graph of precision ${precision}; it has ${names.join(', ')}: ${choice}`;
}
