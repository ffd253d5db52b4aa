// llama.cpp's own server as a contestant, over HTTP as its clients use it. `program` is the path of `llama-server`.

import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { postForEvents } from './event-stream.ts';
import { serveContestant } from './serve-contestant.ts';

const UNKNOWN_TOKEN = -1;

serveContestant(async ({ modelPath, threadCount, maxStreams, contextLength, cacheBits, program }) => {
  const port = await freePort();
  const server = spawn(
    program,
    ['-m', modelPath, '--port', port, '-t', threadCount, '-tb', threadCount, '-np', maxStreams]
      .concat(['-c', contextLength * maxStreams, '--no-webui', '--cache-ram', '0'])
      .concat(cacheBits === 8 ? ['-ctk', 'q8_0', '-ctv', 'q8_0', '-fa', 'on'] : [])
      .map(String),
    { stdio: ['ignore', 'ignore', 'ignore'] },
  );
  process.on('exit', () => server.kill());
  const base = `http://127.0.0.1:${port}`;
  for (;;) {
    const end = server.exitCode ?? server.signalCode;
    if (end !== null) throw new Error(`${program} ended with ${end}.`);
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
      let count = 0;
      for await (const text of postForEvents(`${base}/completion`, body)) {
        const { tokens, stop, tokens_predicted: predicted } = JSON.parse(text);
        if (!stop) {
          count += tokens.length;
          yield* tokens;
        }
        // It keeps a token back whose text is a part of a character, but it has computed it.
        while (stop && count++ < predicted) yield UNKNOWN_TOKEN;
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
