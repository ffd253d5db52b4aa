// The same checkpoint through transformers on PyTorch, or through vLLM, in a process of its own: what others get from this GPU. The
// Python halves are `transformers_peer.py` and `vllm_peer.py`.

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const SCRIPTS = {
  transformers: fileURLToPath(new URL('./transformers_peer.py', import.meta.url)),
  vllm: fileURLToPath(new URL('./vllm_peer.py', import.meta.url)),
} as const;

export type PythonPeer = keyof typeof SCRIPTS;

export interface PeerOrder {
  /** The checkpoint, as Hugging Face folders are. */
  readonly folder: string;
  /** Decode steps of transformers go through torch.compile with CUDA graphs. */
  readonly compiles: boolean;
  readonly streams: readonly number[];
  /** Tokens of each stream, and of the prompt before them. */
  readonly tokenCount: number;
  readonly promptLength: number;
  readonly prefillCounts: readonly number[];
  readonly rounds: number;
  /** A prompt whose log probabilities are asked for. */
  readonly checkedPrompt: readonly number[];
}

export type PeerDecode =
  | {
      readonly streamCount: number;
      readonly tokensPerSecond: number;
      /** Of the first stream. */
      readonly tokenIds: readonly number[];
    }
  | { readonly streamCount: number; readonly error: string };

export interface PeerReport {
  readonly engine: string;
  /** Of transformers. */
  readonly device?: string;
  /** Of transformers. */
  readonly isCompiled?: boolean;
  /** What a step reads; absent: as in our model of this precision. */
  readonly weightBytes?: number;
  /** Of each token of `checkedPrompt` but the first. */
  readonly promptLogprobs: readonly number[];
  readonly decode: readonly PeerDecode[];
  readonly prefill: readonly { readonly tokenCount: number; readonly tokensPerSecond: number }[];
}

/** `python` has the peer's packages. Throws: when it ends with a failure; what it says goes to this process's error stream. */
export async function runPythonPeer(peer: PythonPeer, python: string, order: PeerOrder): Promise<PeerReport> {
  const { [peer]: script } = SCRIPTS;
  const child = spawn(python, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  child.stdin.end(JSON.stringify(order));
  const [output, code] = await Promise.all([text(child.stdout), ended]);
  if (code !== 0) throw new Error(`${python} ${script} ended with code ${code}.`);
  return JSON.parse(output) as PeerReport;
}
