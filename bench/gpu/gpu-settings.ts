// The command line of the benchmark on a GPU.

import { parseArgs } from 'node:util';
import { readCount } from '../read-count.ts';
import type { GpuPrecision, GpuVariation } from './gpu-model.ts';
import { GPU_SHAPES, type GpuShape } from './gpu-shapes.ts';

export const GPU_HELP = `Options:
  --device NAME       webgpu or cuda (default webgpu)
  --shapes LIST       of ${GPU_SHAPES.map(({ name }) => name).join(', ')} (default 0.5b,1.5b,8b)
  --precisions LIST   of f16, q8, q4 (default q4,f16)
  --streams LIST      streams that decode together (default 1,8,64)
  --tokens N          tokens of each stream (default 128)
  --prefill LIST      tokens of the prompts that are timed (default 512,4096)
  --rounded           let products with weights in 4 and 8 bits round activations to 8 bits
  --peer PYTHON       measure each shape through transformers too, with a Python that has torch and transformers; needs
                      the precision f16, in which log probabilities and first tokens are compared
  --vllm PYTHON       measure each shape through vLLM too, with a Python that has vllm; needs the precision f16 likewise
  --peer-compile      let the peer compile its decode step (torch.compile)
  --llama-bench FILE  measure each shape in Q4_0 through llama.cpp too: the program llama-bench of a build for CUDA or Vulkan
  --json              print everything that was measured in place of the table
  --history           append the table to bench/history/gpu.md
  --folder FOLDER     where models are built and kept; default: a folder that is removed at the end`;

export interface GpuSettings extends GpuVariation {
  readonly device: 'webgpu' | 'cuda';
  readonly shapes: readonly GpuShape[];
  readonly precisions: readonly GpuPrecision[];
  readonly streams: readonly number[];
  readonly tokenCount: number;
  readonly prefillCounts: readonly number[];
  /** A Python to run transformers with. */
  readonly peer: string | undefined;
  /** A Python to run vLLM with. */
  readonly vllm: string | undefined;
  readonly peerCompiles: boolean;
  /** The program of llama.cpp. */
  readonly llamaBench: string | undefined;
  readonly output: 'table' | 'json';
  readonly writesHistory: boolean;
  readonly folder: string | undefined;
}

/** Undefined when only help was asked for. Throws: naming the option that is wrong. */
export function readGpuSettings(): GpuSettings | undefined {
  const { values } = parseArgs({
    options: {
      device: { type: 'string', default: 'webgpu' },
      shapes: { type: 'string', default: '0.5b,1.5b,8b' },
      precisions: { type: 'string', default: 'q4,f16' },
      streams: { type: 'string', default: '1,8,64' },
      tokens: { type: 'string', default: '128' },
      prefill: { type: 'string', default: '512,4096' },
      rounded: { type: 'boolean', default: false },
      peer: { type: 'string' },
      vllm: { type: 'string' },
      'peer-compile': { type: 'boolean', default: false },
      'llama-bench': { type: 'string' },
      json: { type: 'boolean', default: false },
      history: { type: 'boolean', default: false },
      folder: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const names = GPU_SHAPES.map(({ name }) => name);
  const precisions = values.precisions.split(',').map(name => oneOf('precisions', name, ['f16', 'q8', 'q4']));
  for (const name of ['peer', 'vllm'] as const)
    if (values[name] !== undefined && !precisions.includes('f16'))
      throw new Error(`--${name} needs f16 among --precisions: the peer computes in float16.`);
  return {
    device: oneOf('device', values.device, ['webgpu', 'cuda']),
    shapes: values.shapes.split(',').map(name => shapeOf(oneOf('shapes', name, names))),
    precisions,
    streams: values.streams.split(',').map(text => readCount('streams', text)),
    tokenCount: readCount('tokens', values.tokens),
    prefillCounts: values.prefill.split(',').map(text => readCount('prefill', text)),
    roundsActivations: values.rounded,
    peer: values.peer,
    vllm: values.vllm,
    peerCompiles: values['peer-compile'],
    llamaBench: values['llama-bench'],
    output: values.json ? 'json' : 'table',
    writesHistory: values.history,
    folder: values.folder,
  };
}

export function shapeOf(name: string): GpuShape {
  return GPU_SHAPES.find(shape => shape.name === name)!;
}

function oneOf<const Name extends string>(option: string, text: string, names: readonly Name[]): Name {
  const found = names.find(name => name === text);
  if (found === undefined) throw new Error(`--${option} takes ${names.join(', ')}; got "${text}".`);
  return found;
}
