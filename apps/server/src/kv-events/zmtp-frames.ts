// ZMTP 3.0, the protocol of ZeroMQ over TCP, as far as a publisher needs it: greeting, frames and commands as bytes.
// Source: RFC 23/ZMTP, https://rfc.zeromq.org/spec/23/. Version 3.0 is declared, which all ZeroMQ libraries of the last ten years
// speak; subscriptions of 3.1, which are commands, are understood too.

const MORE = 0x01;
const LONG = 0x02;
const COMMAND = 0x04;
const GREETING_LENGTH = 64;
/** Peers send topics, pings and sequence numbers only. Unit: bytes. */
const LONGEST_FRAME = 4_096;

export interface ZmtpFrame {
  readonly isCommand: boolean;
  /** More frames of the same message follow. */
  readonly hasMore: boolean;
  readonly body: Buffer;
}

/** The bytes are not ZMTP 3, or not what a subscriber sends. */
export class ZmtpError extends Error {
  override readonly name = 'ZmtpError';
}

/** Signature, version 3.0, the mechanism NULL (no security), and zeros. */
export const GREETING: Buffer = Buffer.alloc(GREETING_LENGTH);
GREETING[0] = 0xff;
GREETING[8] = 1;
GREETING[9] = 0x7f;
GREETING[10] = 3;
GREETING.write('NULL', 12);

/** One message as bytes: all of it, or nothing, goes into a connection. */
export function encodeMessage(frames: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    frames.flatMap((body, index) => [frameHeader(index < frames.length - 1 ? MORE : 0, body.length), body]),
  );
}

export function encodeCommand(name: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.of(name.length), Buffer.from(name, 'latin1'), data]);
  return Buffer.concat([frameHeader(COMMAND, body.length), body]);
}

/** The command that follows the greeting. */
export function encodeReady(socketType: string): Buffer {
  const name = 'Socket-Type';
  const length = Buffer.alloc(4);
  length.writeUInt32BE(socketType.length);
  return encodeCommand(
    'READY',
    Buffer.concat([Buffer.of(name.length), Buffer.from(name), length, Buffer.from(socketType)]),
  );
}

/** Throws: `ZmtpError`. */
export function decodeCommand(body: Buffer): { readonly name: string; readonly data: Buffer } {
  const end = 1 + (body[0] ?? 0);
  if (body.length < end) throw new ZmtpError('a command without a name');
  return { name: body.toString('latin1', 1, end), data: body.subarray(end) };
}

/** The socket type in a READY command; empty without one. Throws: `ZmtpError`. */
export function socketTypeOf(properties: Buffer): string {
  let at = 0;
  while (at < properties.length) {
    const nameEnd = at + 1 + properties[at]!;
    if (nameEnd + 4 > properties.length) throw new ZmtpError('a property without a value');
    const name = properties.toString('latin1', at + 1, nameEnd);
    at = nameEnd + 4 + properties.readUInt32BE(nameEnd);
    if (name.toLowerCase() === 'socket-type') return properties.toString('latin1', nameEnd + 4, at);
  }
  return '';
}

/** Cuts what a peer sends into frames, however it arrives. */
export class ZmtpReader {
  readonly #longestFrame: number;
  #rest: Buffer = Buffer.alloc(0);
  #isGreeted = false;

  /** `longestFrame`: a longer one is an error. Unit: bytes. */
  constructor(longestFrame: number = LONGEST_FRAME) {
    this.#longestFrame = longestFrame;
  }

  /** The frames that are whole now. Throws: `ZmtpError`. */
  push(bytes: Buffer): readonly ZmtpFrame[] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    if (!this.#isGreeted && !this.#readGreeting()) return [];
    const frames: ZmtpFrame[] = [];
    for (let frame = this.#readFrame(); frame !== null; frame = this.#readFrame()) frames.push(frame);
    return frames;
  }

  #readGreeting(): boolean {
    const greeting = this.#rest;
    if (greeting.length > 0 && greeting[0] !== 0xff) throw new ZmtpError('no ZMTP greeting');
    if (greeting.length < GREETING_LENGTH) return false;
    if (greeting[9] !== 0x7f || greeting[10]! < 3) throw new ZmtpError('ZMTP 3 is needed');
    const mechanism = greeting.toString('latin1', 12, 32).replace(/\0+$/, '');
    if (mechanism !== 'NULL')
      throw new ZmtpError(`the mechanism ${JSON.stringify(mechanism)} is not offered`);
    this.#rest = greeting.subarray(GREETING_LENGTH);
    this.#isGreeted = true;
    return true;
  }

  #readFrame(): ZmtpFrame | null {
    const bytes = this.#rest;
    const flags = bytes[0] ?? 0;
    const headerLength = (flags & LONG) === 0 ? 2 : 9;
    if (bytes.length < headerLength) return null;
    const length = headerLength === 2 ? bytes[1]! : Number(bytes.readBigUInt64BE(1));
    if (length > this.#longestFrame) throw new ZmtpError(`a frame of ${length} bytes`);
    const end = headerLength + length;
    if (bytes.length < end) return null;
    this.#rest = bytes.subarray(end);
    return {
      isCommand: (flags & COMMAND) !== 0,
      hasMore: (flags & MORE) !== 0,
      body: bytes.subarray(headerLength, end),
    };
  }
}

function frameHeader(flags: number, length: number): Buffer {
  if (length < 256) return Buffer.of(flags, length);
  const header = Buffer.alloc(9);
  header[0] = flags | LONG;
  header.writeBigUInt64BE(BigInt(length), 1);
  return header;
}
