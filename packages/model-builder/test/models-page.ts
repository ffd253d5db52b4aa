// docs/models.md, made of the tables of architectures, models and quantisations.

import { OTHER_MODELS } from '../src/architectures/other-models.ts';
import { ARCHITECTURES } from '../src/architectures/table.ts';
import { WRAPPERS } from '../src/architectures/text-parts.ts';
import { GGUF_ARCHITECTURES } from '../src/gguf/architectures.ts';
import {
  UNSUPPORTED_FORMATS,
  UNSUPPORTED_METHODS,
} from '../src/quantised-checkpoint/unsupported-quantisation.ts';

/** All model types that are built. */
export const BUILT_MODELS: readonly (readonly [modelType: string, names: string])[] = [
  ...[...ARCHITECTURES, ...WRAPPERS].map(([type, { names }]) => [type, names] as const),
].toSorted(([a], [b]) => (a < b ? -1 : 1));

/** Relative to the repository. */
export const PAGE = 'docs/models.md';

export function modelsPage(): string {
  const built = BUILT_MODELS.map(([type, names]) => [code(type), names]);
  const others = Object.entries(OTHER_MODELS).toSorted(([a], [b]) =>
    a.toLowerCase() < b.toLowerCase() ? -1 : 1,
  );
  return `# Models

Which models are built, and what others would need. This page is made of the tables that the builder decides by:
\`node packages/model-builder/test/write-models-page.ts\` writes it.

The \`model_type\` of a model stands in its \`config.json\`; \`ortler inspect <model>\` shows it. GGUF files have a
\`general.architecture\` in its place, and folders that another program exported to ONNX need no build:
[packages/model-builder](../packages/model-builder/README.md).

## Built

${table(['model_type', 'models'], built)}

Weights are F32, F16 or BF16, or quantised with GPTQ, AWQ, compressed-tensors or FP8
([ADR 51](adr/0051-quantised-safetensors.md)).

GGUF files of these \`general.architecture\`s are built ([ADR 47](adr/0047-gguf-files-and-the-precision-of-their-builds.md)):
${[...GGUF_ARCHITECTURES.keys()].toSorted().map(code).join(', ')}.
Files of Mistral 7B to Small 3.0 say \`llama\`, those of OLMo 3 \`olmo2\`, and those of Ministral 3 \`mistral3\`.
Files of DeepSeek-V2 and V3, Moonlight, Kimi K2 and GLM-4.7-Flash say \`deepseek2\`; those of MiniCPM 3 are not read.
Files of StarCoder 2 do not say its window, and llama.cpp attends to the whole context; here it has the 4,096 tokens of all published
models, as in transformers.
Files of Granite 4 H (\`granitehybrid\`) and Nemotron-H say a context of 2^20 tokens, whatever the model has: serve them with
\`--context-length\`. Falcon-H1 without an output matrix of its own is refused, because the factor of the embedding is in its values.

## Not built

A model of these types is refused with what it would need. A type in neither table is refused too.

${table(
  ['model_type', 'models', 'would need'],
  others.map(([type, { names, needs }]) => [code(type), names, needs]),
)}

## Quantisations that are not read

Of \`quantization_config\` in \`config.json\`:

${table(
  ['quant_method, or format of compressed-tensors', 'would need'],
  [...Object.entries(UNSUPPORTED_METHODS), ...Object.entries(UNSUPPORTED_FORMATS)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, need]) => [code(name), need]),
)}
`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map(row => row[i]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  return [line(head), line(widths.map(width => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
