// One connection of a ZeroMQ peer: handshake, pings, whole messages in both directions. Caller: `zmtp-server.ts`.

import type { Socket } from 'node:net';
import {
  decodeCommand,
  encodeCommand,
  encodeReady,
  GREETING,
  socketTypeOf,
  ZmtpError,
  type ZmtpFrame,
  ZmtpReader,
} from './zmtp-frames.ts';

/** High-water mark of a connection. Unit: bytes. */
const HIGH_WATER_MARK = 32 * 1024 * 1024;
const HANDSHAKE_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;
/** Maximum number of frames of a message of a peer. */
const MAX_FRAMES = 8;

export interface ConnectionSettings {
  /** Our own type of socket, and those of peers that fit. */
  readonly socketType: string;
  readonly peerTypes: readonly string[];
  /** Called for each whole message; commands of ZMTP 3.1 about subscriptions come as messages of 3.0. */
  readonly onMessage: (frames: readonly Buffer[]) => void;
  readonly onClose: () => void;
  /** A message that would leave more than this unread is dropped. Unit: bytes. Default: 32 MiB. */
  readonly highWaterMark?: number | undefined;
}

export class ZmtpConnection {
  readonly #socket: Socket;
  readonly #settings: ConnectionSettings;
  readonly #reader = new ZmtpReader();
  #frames: Buffer[] = [];
  #isReady = false;

  /** Owns the socket. */
  constructor(socket: Socket, settings: ConnectionSettings) {
    this.#socket = socket;
    this.#settings = settings;
    const late = setTimeout(() => this.#isReady || socket.destroy(), HANDSHAKE_MS);
    late.unref();
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.on('data', bytes => this.#receive(bytes));
    // A broken connection needs no report: subscribers connect again.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(late);
      settings.onClose();
    });
    socket.write(GREETING);
    socket.write(encodeReady(settings.socketType));
  }

  /** Sends the message, or drops it where the peer has not read what came before. Returns whether it was sent. */
  send(message: Buffer): boolean {
    if (!this.#isReady || this.#socket.destroyed) return false;
    const { highWaterMark = HIGH_WATER_MARK } = this.#settings;
    if (this.#socket.writableLength + message.length > highWaterMark) return false;
    this.#socket.write(message);
    return true;
  }

  /**
   * Sends all messages, each once the peer has read most of what came before, and takes nothing from it meanwhile. Ends with the
   * connection.
   */
  async sendAll(messages: Iterable<Buffer>): Promise<void> {
    const socket = this.#socket.pause();
    for (const message of messages) {
      if (socket.writableNeedDrain) await untilDrained(socket);
      if (socket.destroyed) return;
      socket.write(message);
    }
    socket.resume();
  }

  /** Sends what was written, as far as the peer reads it soon. */
  end(): void {
    this.#socket.end();
    this.#socket.setTimeout(1_000, () => this.#socket.destroy());
  }

  #receive(bytes: Buffer): void {
    try {
      for (const frame of this.#reader.push(bytes)) this.#take(frame);
    } catch (error) {
      if (!(error instanceof ZmtpError)) throw error;
      this.#socket.destroy();
    }
  }

  #take({ isCommand, hasMore, body }: ZmtpFrame): void {
    if (isCommand) {
      this.#obey(decodeCommand(body));
      return;
    }
    if (!this.#isReady) throw new ZmtpError('a message before READY');
    this.#frames.push(body);
    if (this.#frames.length > MAX_FRAMES) throw new ZmtpError('a message of too many frames');
    if (hasMore) return;
    const frames = this.#frames;
    this.#frames = [];
    this.#settings.onMessage(frames);
  }

  #obey({ name, data }: { readonly name: string; readonly data: Buffer }): void {
    if (name === 'READY') {
      const type = socketTypeOf(data);
      if (!this.#settings.peerTypes.includes(type)) throw new ZmtpError(`a socket of type ${type}`);
      this.#isReady = true;
    } else if (name === 'PING') {
      // Two bytes say how long the peer waits; the rest comes back.
      this.#socket.write(encodeCommand('PONG', data.subarray(2)));
    } else if (name === 'SUBSCRIBE' || name === 'CANCEL') {
      if (!this.#isReady) throw new ZmtpError('a subscription before READY');
      this.#settings.onMessage([Buffer.concat([Buffer.of(name === 'SUBSCRIBE' ? 1 : 0), data])]);
    } else if (name === 'ERROR') {
      throw new ZmtpError('the peer reports an error');
    }
  }
}

/** `drain` never fires on a closed connection, so either event ends the wait. */
function untilDrained(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const settle = () => {
    socket.off('drain', settle).off('close', settle);
    resolve();
  };
  socket.once('drain', settle).once('close', settle);
  if (socket.destroyed) settle();
  return promise;
}
