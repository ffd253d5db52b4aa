import { expect, it } from 'vitest';
import {
  decodeCommand,
  encodeCommand,
  encodeMessage,
  encodeReady,
  GREETING,
  socketTypeOf,
  ZmtpError,
  ZmtpReader,
} from './zmtp-frames.ts';

const STREAM = Buffer.concat([
  GREETING,
  encodeReady('SUB'),
  encodeMessage([Buffer.from('\x01kv')]),
  encodeMessage([Buffer.alloc(0), Buffer.alloc(300, 7)]),
]);

it('cuts a stream into the same frames however it arrives', () => {
  const whole = new ZmtpReader().push(STREAM);
  expect(whole.map(({ isCommand, hasMore, body }) => [isCommand, hasMore, body.length])).toEqual([
    [true, false, 25],
    [false, false, 3],
    [false, true, 0],
    [false, false, 300],
  ]);
  for (const size of [1, 7, 64, 65]) {
    const reader = new ZmtpReader();
    const frames = [];
    for (let at = 0; at < STREAM.length; at += size)
      frames.push(...reader.push(STREAM.subarray(at, at + size)));
    expect(frames).toEqual(whole);
  }
});

it('reads commands and the type of a socket', () => {
  const [ready] = new ZmtpReader().push(Buffer.concat([GREETING, encodeReady('DEALER')]));
  const { name, data } = decodeCommand(ready!.body);
  expect([name, socketTypeOf(data)]).toEqual(['READY', 'DEALER']);
  const [ping] = new ZmtpReader().push(Buffer.concat([GREETING, encodeCommand('PING', Buffer.of(0, 9, 65))]));
  expect(decodeCommand(ping!.body)).toEqual({ name: 'PING', data: Buffer.of(0, 9, 65) });
});

it.each([
  ['another protocol', Buffer.from('GET / HTTP/1.1\r\n')],
  ['ZMTP 2', Buffer.concat([GREETING.subarray(0, 10), Buffer.of(1), GREETING.subarray(11)])],
  ['encryption', Buffer.concat([GREETING.subarray(0, 12), Buffer.from('CURVE'), GREETING.subarray(17)])],
  ['a frame of a gigabyte', Buffer.concat([GREETING, Buffer.of(2, 0, 0, 0, 0, 64, 0, 0, 0)])],
])('refuses %s', (_, bytes) => {
  expect(() => new ZmtpReader().push(bytes)).toThrow(ZmtpError);
});
