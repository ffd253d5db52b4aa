// llama.cpp's own server as a contestant, over HTTP as its clients use it. `program` is the path of `llama-server`.

import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
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
      const response = await fetch(`${base}/completion`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          prompt,
          n_predict: outputLength,
          temperature: 0,
          samplers: ['temperature'],
          ignore_eos: true,
          return_tokens: true,
          stream: true,
          cache_prompt: true,
        }),
      });
      if (!response.ok) throw new Error(`llama-server answered ${response.status}: ${await response.text()}`);
      let rest = '';
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + piece).split('\n');
        rest = lines.pop();
        for (const line of lines) {
          if (!line.startsWith('data: ')) continue;
          const { tokens, stop } = JSON.parse(line.slice(6));
          if (!stop) yield* tokens;
        }
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
