// A process that only answers HTTP with a constant: what a latency cannot be below on this machine, alone and beside a load that is
// none of its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

const SCRIPT = `
  const server = require('node:http').createServer((_, reply) => reply.end('{"status":"ok"}'));
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

export interface BareServer {
  readonly url: string;
  stop(): void;
}

export async function startBareServer(): Promise<BareServer> {
  const child = spawn(process.execPath, ['-e', SCRIPT], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  return { url: `http://127.0.0.1:${String(port).trim()}`, stop: () => void child.kill('SIGKILL') };
}
