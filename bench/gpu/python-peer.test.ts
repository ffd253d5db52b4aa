// The half in Python over a package that stands in for vllm: what it is asked for, and what it reports.

import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { runPythonPeer } from './python-peer.ts';

const PYTHON = process.env.TEST_PYTHON ?? 'python3';
const hasPython = spawnSync(PYTHON, ['--version']).status === 0;

/** Logs to the output, as vllm does, and refuses settings that are not of a fair comparison. */
const STAND_IN = `
import time
from types import SimpleNamespace as N
__version__ = "0"
print("a line of the log")
class SamplingParams:
    def __init__(self, **settings):
        self.__dict__.update(settings)
class LLM:
    def __init__(self, **settings):
        assert settings["dtype"] == "float16" and settings["enable_prefix_caching"] is False
        assert settings["max_model_len"] == 17 and settings["max_num_seqs"] == 8
    def generate(self, prompts, params, use_tqdm):
        assert params.temperature == 0 and params.ignore_eos
        time.sleep(0.002 * params.max_tokens)
        def output(ids):
            logprobs = [None] + [{i: N(logprob=-i)} for i in ids[1:]]
            return N(outputs=[N(token_ids=tuple(range(params.max_tokens)))], prompt_logprobs=logprobs)
        return [output(prompt["prompt_token_ids"]) for prompt in prompts]
`;

const ORDER = {
  ...{ compiles: false, streams: [1, 8], tokenCount: 9, promptLength: 4 },
  ...{ prefillCounts: [16], rounds: 3, checkedPrompt: [3, 4, 5] },
};

let folder: string | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  if (folder !== undefined) await rm(folder, { recursive: true });
  folder = undefined;
});

it.skipIf(!hasPython)(
  `measures vLLM by what it reports apart from its log${hasPython ? '' : `, skipped: no ${PYTHON}`}`,
  async () => {
    folder = await mkdtemp(join(tmpdir(), 'ortler-vllm-'));
    await mkdir(join(folder, 'vllm'));
    await writeFile(join(folder, 'vllm', '__init__.py'), STAND_IN);
    await writeFile(join(folder, 'config.json'), '{"vocab_size": 50}');
    vi.stubEnv('PYTHONPATH', folder);
    vi.stubEnv('PYTHONDONTWRITEBYTECODE', '1');
    const report = await runPythonPeer('vllm', PYTHON, { ...ORDER, folder });
    expect(report).toMatchObject({
      engine: 'vLLM 0',
      promptLogprobs: [-4, -5],
      decode: [{ streamCount: 1, tokenIds: [0, 1, 2, 3, 4, 5, 6, 7, 8] }, { streamCount: 8 }],
      prefill: [{ tokenCount: 16 }],
    });
    const [alone, together] = report.decode.map(entry => ('error' in entry ? 0 : entry.tokensPerSecond));
    expect(alone).toBeGreaterThan(0);
    expect(together).toBeGreaterThan(alone!);
  },
);

it.skipIf(!hasPython)('says which Python failed', async () => {
  vi.stubEnv('PYTHONPATH', tmpdir());
  const failed = runPythonPeer('vllm', PYTHON, { ...ORDER, folder: '/nowhere' });
  await expect(failed).rejects.toThrow(/vllm_peer\.py ended with code 1/);
});
