// Entry of the attacker's process: sends the requests of an attack until it is told to stop.

import { connect, type Socket } from 'node:net';
import {
  ATTACKS,
  type AttackOrder,
  type AttackRequest,
  type AttackResult,
  authorizationOf,
} from './attacks.ts';

const { id, server } = JSON.parse(process.env.ATTACK!) as AttackOrder;
const { clients, kind, requests } = ATTACKS[id]!;
const { hostname, port } = new URL(server.url);
/** Clients that leave do so after this time, before the query could end. Unit: milliseconds. */
const LEAVE_MS = 100;
/** Pause of a client that nobody answers. Unit: milliseconds. */
const UNREAD_PAUSE_MS = 1_000;

const statuses: Record<number, number> = {};
const open = new Set<Socket>();
let sentCount = 0;
let isOver = false;

const texts = requests(server).map(toBytes);
let waiting = clients;
const started = Promise.withResolvers<void>();
const noteSent = () => {
  sentCount++;
  if (--waiting === 0) started.resolve();
};
const loops = Array.from({ length: clients }, async () => {
  while (!isOver)
    for (const bytes of texts) {
      if (isOver) return;
      await sendOne(bytes);
    }
});
await started.promise;
process.send!('open');
process.once('message', async () => {
  isOver = true;
  for (const socket of open) socket.destroy();
  await Promise.all(loops);
  // The channel is closed after the message has been written.
  process.send!({ sentCount, statuses } satisfies AttackResult, () => process.disconnect());
});

/** A whole request; the connection ends with its reply. */
function toBytes({ path, body }: AttackRequest): Buffer {
  const bytes = Buffer.from(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    `Authorization: ${authorizationOf(path, server.apiKey)}`,
    'Content-Type: application/json',
    `Content-Length: ${bytes.length}`,
    'Connection: close',
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes]);
}

async function sendOne(bytes: Buffer): Promise<void> {
  const socket = connect(Number(port), hostname);
  open.add(socket);
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  socket.write(bytes, noteSent);
  if (kind === 'never-reads') {
    socket.pause();
    await Promise.race([closed, pause(UNREAD_PAUSE_MS)]);
    // The connection stays; a client of its own goes on once the server has ended it.
    await closed;
  } else {
    let head = '';
    socket.on('data', part => {
      if (head === '') head = String(part).slice(0, 12);
    });
    if (kind === 'leaves') {
      await Promise.race([closed, pause(LEAVE_MS)]);
      socket.destroy();
    }
    await closed;
    const status = Number(head.slice(9, 12));
    if (head !== '') statuses[status] = (statuses[status] ?? 0) + 1;
  }
  open.delete(socket);
}

function pause(ms: number): Promise<void> {
  return new Promise(done => setTimeout(done, ms));
}
