// Options of `vllm serve` and llama-server that people type first, with what to use here. docs/migration.md lists them.

const ONE_DEVICE = 'A model runs on one device; put several servers behind a router.';
const ADAPTERS = 'Merge an adapter with `ortler build --adapter`, or register it as a checkpoint.';
const PROXY = 'TLS is done by a reverse proxy.';
const TEMPLATE = 'Leave it out: the chat template of the model is always used.';

/** Options, without the values that they take, and the advice for each. */
export const OTHER_SERVERS_OPTIONS: readonly (readonly [options: readonly string[], advice: string])[] = [
  [
    ['--model', '-m', '--hf-repo', '-hf'],
    'The model is an argument: `ortler serve org/model`, `org/model:Q4_K_M`, or a path.',
  ],
  [['--served-model-name', '--alias', '-a'], 'Use --models name=org/model, or name=path.'],
  [['--revision'], 'It is part of the name: org/model@revision.'],
  [['--max-model-len', '--ctx-size', '-c'], 'Use --context-length.'],
  [['--max-num-seqs', '--parallel', '-np'], 'Use --max-sequences.'],
  [['--max-num-batched-tokens', '--batch-size', '-b', '--ubatch-size', '-ub'], 'Use --prefill-chunk.'],
  [['--dtype', '--quantization', '-q'], 'Use --precision; formats of checkpoints are found out.'],
  [['--kv-cache-dtype', '--cache-type-k', '-ctk', '--cache-type-v', '-ctv'], 'Use --kv-cache.'],
  [
    ['--gpu-memory-utilization', '--kv-cache-memory-bytes'],
    'Use --cache-memory, a size such as 8gb, for the KV cache of a model on a GPU.',
  ],
  [['--n-gpu-layers', '--gpu-layers', '-ngl'], 'A model runs whole on the CPU or on a GPU: use --device.'],
  [['--enable-auto-tool-choice'], 'Use --tool-calling on.'],
  [
    ['--tool-call-parser'],
    'Use --tool-calling on: the dialect follows from the chat template, or from --tool-dialect.',
  ],
  [['--enable-prefix-caching'], 'Leave it out: prefix caching is on.'],
  [['--no-enable-prefix-caching'], 'Use --prefix-cache off.'],
  [['--enable-chunked-prefill'], 'Leave it out: chunked prefill is on, by --prefill-chunk.'],
  [
    ['--speculative-config', '--model-draft', '-md'],
    'There are no draft models: --speculation is by prompt lookup, and on by default.',
  ],
  [['--scheduling-policy'], 'Use --scheduling.'],
  [['--download-dir'], 'Use --hub-cache.'],
  [['--hf-token', '-hft'], 'Use HF_TOKEN.'],
  [
    ['--tensor-parallel-size', '-tp', '--pipeline-parallel-size', '-pp', '--data-parallel-size', '-dp'],
    ONE_DEVICE,
  ],
  [['--enable-lora', '--lora-modules', '--lora'], ADAPTERS],
  [['--trust-remote-code'], 'Leave it out: no code of a model is run.'],
  [['--allowed-origins'], 'Use --cors-origins.'],
  [['--root-path', '--api-prefix'], 'Leave it out: a path prefix that the proxy removes needs no setting.'],
  [['--ssl-keyfile', '--ssl-certfile', '--ssl-key-file', '--ssl-cert-file'], PROXY],
  [['--uvicorn-log-level'], 'Use --log-level.'],
  [['--kv-events-config'], 'Use --kv-events.'],
  [['--jinja'], TEMPLATE],
  [['--chat-template-file'], 'Use --chat-template.'],
  [['--metrics'], 'Leave it out: /metrics is on.'],
  [['--flash-attn', '-fa'], 'Leave it out.'],
];

/** Adds to commander's error of an unknown option what to use in its place, where another server has that option. */
export function adviseOnOption(error: string): string {
  const [, shown, option = ''] = /^(error: unknown option '([^'=]+).*')/.exec(error) ?? [];
  // vLLM takes underscores for hyphens.
  const name = option.replaceAll('_', '-');
  const advice = OTHER_SERVERS_OPTIONS.find(([options]) => options.includes(name))?.[1];
  return advice === undefined ? error : `${shown}\n${advice}\n`;
}
