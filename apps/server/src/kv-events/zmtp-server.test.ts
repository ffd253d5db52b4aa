import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  encodeCommand,
  encodeMessage,
  encodeReady,
  GREETING,
  type ZmtpFrame,
  ZmtpReader,
} from './zmtp-frames.ts';
import { bindPublisher, bindRouter, type PublisherSocket } from './zmtp-server.ts';

const HERE = { host: '127.0.0.1', port: 0 };
const HIGH_WATER_MARK = 1024 * 1024;
const PATIENCE = { timeout: 20_000, interval: 10 };

/** A peer that sends and reads bytes of ZMTP. */
async function join(port: number, socketType: string) {
  const socket: Socket = connect(port, HERE.host);
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  const reader = new ZmtpReader(2 ** 30);
  const frames: ZmtpFrame[] = [];
  const read = () => socket.on('data', bytes => frames.push(...reader.push(bytes)));
  socket.write(Buffer.concat([GREETING, encodeReady(socketType)]));
  return { socket, frames, read };
}

const topicsOf = (frames: readonly ZmtpFrame[]) =>
  frames.filter(({ isCommand, hasMore }) => !isCommand && hasMore).map(({ body }) => String(body));

describe('a publisher', () => {
  let publisher: PublisherSocket;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    publisher = await bindPublisher(HERE, HIGH_WATER_MARK);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await publisher.close();
  });

  const subscribe = async (...messages: readonly Buffer[]) => {
    const peer = await join(publisher.port, 'SUB');
    sockets.push(peer.socket);
    peer.socket.write(Buffer.concat(messages));
    return peer;
  };
  /** Publishes until the peer has got a message. */
  const untilHeard = (topic: string, frames: readonly ZmtpFrame[]) =>
    vi.waitFor(() => {
      publisher.publish(topic, [Buffer.from('x')]);
      expect(topicsOf(frames)).toContain(topic);
    }, PATIENCE);

  it('sends the topics that were asked for, in both versions of a subscription', async () => {
    const old = await subscribe(encodeMessage([Buffer.from('\x01a')]));
    const recent = await subscribe(encodeCommand('SUBSCRIBE', Buffer.from('b')));
    old.read();
    recent.read();
    await untilHeard('ab', old.frames);
    await untilHeard('ba', recent.frames);
    recent.socket.write(encodeCommand('CANCEL', Buffer.from('b')));
    recent.socket.write(encodeCommand('SUBSCRIBE', Buffer.from('c')));
    await untilHeard('c', recent.frames);
    publisher.publish('b', [Buffer.from('late')]);
    await untilHeard('cc', recent.frames);
    expect(String(recent.frames.map(({ body }) => body))).not.toContain('late');
    expect(new Set(topicsOf(old.frames))).toEqual(new Set(['ab']));
  });

  it('answers pings with what they carry', async () => {
    const { frames, read } = await subscribe(encodeCommand('PING', Buffer.from('\x00\x09abc')));
    read();
    await vi.waitFor(() => expect(frames.map(({ body }) => String(body))).toContain('\x04PONGabc'), PATIENCE);
  });

  it('drops messages for a peer that does not read, whole ones, and for no other', async () => {
    const slow = await subscribe(encodeMessage([Buffer.from('\x01')]));
    const fast = await subscribe(encodeMessage([Buffer.from('\x01')]));
    fast.read();
    await untilHeard('ready', fast.frames);
    await vi.waitFor(() => expect(slow.socket.bytesWritten).toBeGreaterThan(0), PATIENCE);
    const payload = Buffer.alloc(HIGH_WATER_MARK / 4);
    // More than the buffers of the operating system hold as well.
    const numbers = Array.from({ length: 80 }, (_, index) => String(index));
    for (const number of numbers) {
      publisher.publish(number, [payload]);
      // As the numbers of batches: the fast one has each before the next comes.
      await vi.waitFor(() => expect(topicsOf(fast.frames)).toContain(number), PATIENCE);
    }
    slow.read();
    await untilHeard('end', slow.frames);
    const heard = topicsOf(slow.frames).filter(topic => /^\d/.test(topic));
    expect(heard.length).toBeLessThan(numbers.length);
    expect(heard).toEqual([...new Set(heard)].sort((a, b) => Number(a) - Number(b)));
    expect(topicsOf(fast.frames).filter(topic => /^\d/.test(topic))).toEqual(numbers);
  });

  it.each(['PUB', 'REQ'])('closes the connection of a %s socket', async type => {
    const { socket } = await join(publisher.port, type);
    socket.resume();
    await once(socket, 'close');
  });

  it('closes the connection of another protocol', async () => {
    const socket = connect(publisher.port, HERE.host);
    socket.on('error', () => undefined);
    socket.resume();
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await once(socket, 'close');
  });
});

it('a router sends what its question is answered with, and nothing for a question without an empty frame', async () => {
  const router = await bindRouter(HERE, question => [question, [Buffer.from('end')]]);
  const { socket, frames, read } = await join(router.port, 'DEALER');
  read();
  socket.write(encodeMessage([Buffer.from('no delimiter')]));
  socket.write(encodeMessage([Buffer.alloc(0), Buffer.from('from 7')]));
  const messages = () => frames.filter(({ isCommand }) => !isCommand).map(({ body }) => String(body));
  await vi.waitFor(() => expect(messages()).toEqual(['', 'from 7', '', 'end']), PATIENCE);
  socket.destroy();
  await router.close();
});

it('a router sends a whole answer, however large and however late it is read', async () => {
  const payload = Buffer.alloc(4 * 1024 * 1024);
  // More than any buffer on the way holds.
  const numbers = Array.from({ length: 16 }, (_, index) => String(index));
  const router = await bindRouter(HERE, () => numbers.map(number => [Buffer.from(number), payload]));
  const { socket, frames, read } = await join(router.port, 'DEALER');
  socket.write(encodeMessage([Buffer.alloc(0), Buffer.from('all')]));
  socket.write(encodeMessage([Buffer.alloc(0), Buffer.from('again')]));
  await pause(200);
  read();
  const heard = () => topicsOf(frames).filter(topic => topic !== '');
  await vi.waitFor(() => expect(heard()).toEqual([...numbers, ...numbers]), PATIENCE);
  socket.destroy();
  await router.close();
});
