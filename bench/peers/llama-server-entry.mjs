// llama.cpp's own server as a contestant, over HTTP as its clients use it. `program` is the path of `llama-server`.

import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { postForEvents } from './event-stream.ts';
import { serveContestant } from './serve-contestant.ts';

serveContestant(async ({ modelPath, threadCount, maxStreams, contextLength, program }) => {
  const port = await freePort();
  const server = spawn(
    program,
    ['-m', modelPath, '--port', port, '-t', threadCount, '-tb', threadCount, '-np', maxStreams]
      .concat(['-c', contextLength * maxStreams, '--no-webui', '--cache-ram', '0'])
      .map(String),
    { stdio: ['ignore', 'ignore', 'ignore'] },
  );
  process.on('exit', () => server.kill());
  const base = `http://127.0.0.1:${port}`;
  for (;;) {
    if (server.exitCode !== null) throw new Error(`${program} ended with ${server.exitCode}.`);
    const health = await fetch(`${base}/health`).catch(() => undefined);
    if (health?.ok) break;
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  const { build_info: version } = await (await fetch(`${base}/props`)).json();
  return {
    version: String(version),
    pids: [server.pid],
    async *generate(prompt, outputLength) {
      const body = {
        prompt,
        n_predict: outputLength,
        temperature: 0,
        samplers: ['temperature'],
        ignore_eos: true,
        return_tokens: true,
        stream: true,
        cache_prompt: true,
      };
      for await (const text of postForEvents(`${base}/completion`, body)) {
        const { tokens, stop } = JSON.parse(text);
        if (!stop) yield* tokens;
      }
    },
  };
});

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
