// Our server as a contestant, over HTTP as its clients use it: started as its operators start it.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { childrenOf } from '../process-usage.ts';
import type { ContestantOptions } from './contestant.ts';
import { postForEvents } from './event-stream.ts';
import { serveContestant } from './serve-contestant.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const KEY = 'bench-key-0123456789abcdef';

/** What is read of a chunk of /v1/completions. */
interface Chunk {
  readonly choices: readonly { readonly token_ids: readonly number[] }[];
}

serveContestant(async ({ modelPath, threadCount, maxStreams, contextLength }: ContestantOptions) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'ortler-bench-'));
  const options = {
    port: 0,
    models: `bench=${modelPath}`,
    threads: threadCount,
    'max-sequences': maxStreams,
    'context-length': contextLength,
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const server = spawn(
    process.execPath,
    ['--conditions=source', 'apps/server/src/cli.ts', 'serve', ...flags],
    {
      cwd: ROOT,
      env: { ...process.env, ORTLER_API_KEY: KEY, ORTLER_DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  process.on('exit', () => {
    server.kill();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const url = await new Promise<string>((found, reject) => {
    let output = '';
    server.stdout.on('data', data => {
      output += data;
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
      if (address !== null) found(address[0]);
    });
    server.once('exit', code => reject(new Error(`The server ended with ${code}:\n${output}`)));
  });
  while (!(await fetch(`${url}/health`)).ok) await new Promise(done => setTimeout(done, 50));
  const { version } = (await (await fetch(`${url}/version`)).json()) as { version: string };
  return {
    version,
    pids: [server.pid!, ...childrenOf(server.pid!)],
    async *generate(prompt: readonly number[], outputLength: number): AsyncGenerator<number> {
      const body = {
        prompt,
        temperature: 0,
        max_tokens: outputLength,
        ignore_eos: true,
        return_token_ids: true,
        stream: true,
      };
      const events = postForEvents(`${url}/v1/completions`, body, { authorization: `Bearer ${KEY}` });
      for await (const text of events) {
        const { choices } = JSON.parse(text) as Chunk;
        for (const { token_ids: tokenIds } of choices) yield* tokenIds;
      }
    },
  };
});
