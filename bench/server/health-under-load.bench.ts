// How fast /health answers while the model generates: the server as its users run it, every sequence slot busy with
// a long answer, one probe after another. A probe counts only if the answers were still running when it returned.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from '../describe-machine.ts';
import { serverAddress } from '../server-address.ts';

const KEY = 'bench-key-0123456789abcdef';
const ROOT = resolve(import.meta.dirname, '../..');

const { values } = parseArgs({
  options: {
    answers: { type: 'string', default: '8' },
    tokens: { type: 'string', default: '900' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log('npm run bench -- health-under-load [--answers 8] [--tokens 900]');
} else {
  console.log(JSON.stringify(await measure(Number(values.answers), Number(values.tokens)), null, 2));
}

async function measure(answerCount: number, tokenCount: number) {
  const dataDir = mkdtempSync(join(tmpdir(), 'ortler-bench-'));
  const server = spawn(
    process.execPath,
    ['--conditions=source', 'apps/server/src/cli.ts', 'serve', '--port', '0'],
    {
      cwd: ROOT,
      env: { ...process.env, ORTLER_API_KEY: KEY, ORTLER_DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  try {
    const url = await serverAddress(server.stdout);
    while (!(await fetch(`${url}/health`)).ok) await new Promise(done => setTimeout(done, 50));
    let openCount = answerCount;
    const answers = Array.from({ length: answerCount }, async () => {
      const answer = await ask(url, tokenCount);
      openCount -= 1;
      return answer;
    });
    const idle = openCount;
    const probes: number[] = [];
    while (openCount === idle) {
      const start = performance.now();
      const response = await fetch(`${url}/health`);
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`/health said ${response.status}.`);
      if (openCount === idle) probes.push(performance.now() - start);
      await new Promise(done => setTimeout(done, 5));
    }
    const lengths = await Promise.all(answers);
    if (lengths.some(length => length !== tokenCount)) throw new Error(`Answers of ${lengths} tokens.`);
    return { answerCount, tokenCount, ...summary(probes), machine: describeMachine() };
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Asks for exactly `tokenCount` tokens and gives how many came. */
async function ask(url: string, tokenCount: number): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      messages: [{ role: 'user', content: 'Tell me about Ortler.' }],
      max_completion_tokens: tokenCount,
      ignore_eos: true,
    }),
  });
  const body = (await response.json()) as { usage: { completion_tokens: number } };
  return body.usage.completion_tokens;
}

function summary(times: readonly number[]) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => Number(sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(2));
  return { probeCount: times.length, medianMs: at(0.5), p95Ms: at(0.95), maxMs: at(1) };
}
