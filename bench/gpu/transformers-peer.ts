// The same checkpoint through transformers on PyTorch, in a process of its own: what others get from this GPU. The Python
// half is `transformers_peer.py`.

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./transformers_peer.py', import.meta.url));

export interface PeerOrder {
  /** The checkpoint, as Hugging Face folders are. */
  readonly folder: string;
  /** Decode steps go through torch.compile with CUDA graphs. */
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
  readonly device: string;
  readonly isCompiled: boolean;
  readonly weightBytes: number;
  /** Of each token of `checkedPrompt` but the first. */
  readonly promptLogprobs: readonly number[];
  readonly decode: readonly PeerDecode[];
  readonly prefill: readonly { readonly tokenCount: number; readonly tokensPerSecond: number }[];
}

/** `python` has torch and transformers. Throws: when it ends with a failure; what it says goes to this process's error stream. */
export async function runTransformersPeer(python: string, order: PeerOrder): Promise<PeerReport> {
  const child = spawn(python, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  child.stdin.end(JSON.stringify(order));
  const [output, code] = await Promise.all([text(child.stdout), ended]);
  if (code !== 0) throw new Error(`${python} ${SCRIPT} ended with code ${code}.`);
  return JSON.parse(output) as PeerReport;
}
