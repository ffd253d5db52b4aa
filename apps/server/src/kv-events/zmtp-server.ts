// The two ZeroMQ sockets of KV-cache events, bound to an address: PUB, which sends each message to all who subscribed to its topic,
// and ROUTER, which answers the one who asked. A subscriber that reads too slowly loses messages; nobody waits for it. An answer goes as
// fast as its reader.

import { createServer, type Server, type Socket } from 'node:net';
import type { TcpEndpoint } from './tcp-endpoint.ts';
import { ZmtpConnection } from './zmtp-connection.ts';
import { encodeMessage } from './zmtp-frames.ts';

/** Routers are few. */
const MAX_CONNECTIONS = 64;
/** Topics of one subscriber. */
const MAX_TOPICS = 64;

export interface ZmtpServer {
  /** The port that it listens on. */
  readonly port: number;
  close(): Promise<void>;
}

export interface PublisherSocket extends ZmtpServer {
  /** Sends `[topic, ...frames]` to the subscribers of the topic. */
  publish(topic: string, frames: readonly Uint8Array[]): void;
}

/** `highWaterMark`: as for a connection. Throws: where it cannot listen. */
export async function bindPublisher(endpoint: TcpEndpoint, highWaterMark?: number): Promise<PublisherSocket> {
  /** Connections, and the beginnings of topics that each asked for. */
  const subscribers = new Map<ZmtpConnection, Buffer[]>();
  const server = await bind(endpoint, socket => {
    const topics: Buffer[] = [];
    const connection = new ZmtpConnection(socket, {
      socketType: 'PUB',
      peerTypes: ['SUB', 'XSUB'],
      highWaterMark,
      onMessage: ([body]) => subscribe(topics, body!),
      onClose: () => subscribers.delete(connection),
    });
    subscribers.set(connection, topics);
    return connection;
  });
  return {
    ...server,
    publish(topic, frames) {
      if (subscribers.size === 0) return;
      const name = Buffer.from(topic);
      const message = encodeMessage([name, ...frames]);
      for (const [connection, topics] of subscribers)
        if (topics.some(start => name.subarray(0, start.length).equals(start))) connection.send(message);
    },
  };
}

/**
 * `answer` gets the frames of a question after its empty one, and gives the messages that go back, which are asked for as they are sent.
 * Throws: where it cannot listen.
 */
export async function bindRouter(
  endpoint: TcpEndpoint,
  answer: (question: readonly Buffer[]) => Iterable<readonly Uint8Array[]>,
): Promise<ZmtpServer> {
  return bind(endpoint, socket => {
    let answering = Promise.resolve();
    const connection: ZmtpConnection = new ZmtpConnection(socket, {
      socketType: 'ROUTER',
      peerTypes: ['REQ', 'DEALER', 'ROUTER'],
      onMessage([delimiter, ...question]) {
        if (delimiter!.length > 0) return;
        answering = answering.then(() => connection.sendAll(encodeAll(answer(question))));
      },
      onClose: () => undefined,
    });
    return connection;
  });
}

const EMPTY = new Uint8Array(0);

function* encodeAll(messages: Iterable<readonly Uint8Array[]>): Generator<Buffer> {
  for (const frames of messages) yield encodeMessage([EMPTY, ...frames]);
}

/** A message of one byte and a topic: 1 subscribes, 0 cancels. Each subscription counts once. */
function subscribe(topics: Buffer[], body: Buffer): void {
  const topic = Buffer.from(body.subarray(1));
  if (body[0] === 1 && topics.length < MAX_TOPICS) topics.push(topic);
  const index = body[0] === 0 ? topics.findIndex(other => other.equals(topic)) : -1;
  if (index >= 0) topics.splice(index, 1);
}

async function bind(
  { host, port }: TcpEndpoint,
  accept: (socket: Socket) => ZmtpConnection,
): Promise<ZmtpServer> {
  const open = new Map<Socket, ZmtpConnection>();
  const server: Server = createServer(socket => {
    open.set(socket, accept(socket));
    socket.on('close', () => open.delete(socket));
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === '*' ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    async close() {
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      for (const connection of open.values()) connection.end();
      await closed;
    },
  };
}
