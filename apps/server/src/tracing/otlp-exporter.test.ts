import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, it, vi } from 'vitest';
import { createOtlpExporter, type FinishedSpan, toOtlp } from './otlp-exporter.ts';

const SPAN: FinishedSpan = {
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  parentSpanId: 'c'.repeat(16),
  name: 'GET /v1/models',
  kind: 'server',
  startMs: 1_800_000_000_000.25,
  endMs: 1_800_000_000_001,
  attributes: { text: 'x', whole: 3, share: 0.5, flag: true, list: ['a', 'b'], absent: undefined },
  isError: true,
};

let collector: Server | undefined;
afterEach(() => collector?.close());

/** A collector that answers with `status`. */
async function collect(status = 200) {
  const headers: IncomingHttpHeaders[] = [];
  const bodies: { resourceSpans: { scopeSpans: { spans: object[] }[] }[] }[] = [];
  collector = createServer(async (request, reply) => {
    headers.push(request.headers);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    bodies.push(JSON.parse(Buffer.concat(parts).toString()));
    reply.writeHead(status).end('{}');
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  return { bodies, headers, endpoint: `http://127.0.0.1:${port}/v1/traces` };
}

it('writes a span as OTLP in JSON', () => {
  expect(toOtlp([SPAN], '1.2.3')).toMatchObject({
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'ortler' } }, {}] },
        scopeSpans: [
          {
            spans: [
              {
                traceId: SPAN.traceId,
                spanId: SPAN.spanId,
                parentSpanId: SPAN.parentSpanId,
                kind: 2,
                startTimeUnixNano: '1800000000000250000',
                endTimeUnixNano: '1800000000001000000',
                attributes: [
                  { key: 'text', value: { stringValue: 'x' } },
                  { key: 'whole', value: { intValue: '3' } },
                  { key: 'share', value: { doubleValue: 0.5 } },
                  { key: 'flag', value: { boolValue: true } },
                  {
                    key: 'list',
                    value: { arrayValue: { values: [{ stringValue: 'a' }, { stringValue: 'b' }] } },
                  },
                ],
                status: { code: 2 },
              },
            ],
          },
        ],
      },
    ],
  });
});

it('sends all spans in batches, the last ones when it is closed', async () => {
  const { bodies, endpoint } = await collect();
  const exporter = createOtlpExporter({ endpoint, serviceVersion: '1', onFailed: () => undefined });
  for (let count = 0; count < 700; count++) exporter.add(SPAN);
  await exporter.close();
  const sizes = bodies.map(({ resourceSpans }) => resourceSpans[0]!.scopeSpans[0]!.spans.length);
  expect(sizes).toEqual([512, 188]);
  expect(exporter.lostCount).toBe(0);
});

it('loses spans, and reports it once, where the collector fails or is slow', async () => {
  const { endpoint } = await collect(503);
  const onFailed = vi.fn();
  const exporter = createOtlpExporter({ endpoint, serviceVersion: '1', onFailed });
  for (let count = 0; count < 5_000; count++) exporter.add(SPAN);
  await exporter.close();
  expect(exporter.lostCount).toBe(5_000);
  expect(onFailed.mock.calls).toEqual([['status 503']]);
});

it('gives a collector that does not answer up when it is closed, after two seconds', async () => {
  collector = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`;
  const onFailed = vi.fn();
  const exporter = createOtlpExporter({ endpoint, serviceVersion: '1', onFailed });
  for (let count = 0; count < 1_500; count++) exporter.add(SPAN);
  const startedAtMs = performance.now();
  await exporter.close();
  expect(performance.now() - startedAtMs).toBeLessThan(8_000);
  expect(exporter.lostCount).toBe(1_500);
  expect(onFailed.mock.calls).toEqual([['the server stops, and the collector does not answer']]);
});

it('sends the headers of its configuration', async () => {
  const { headers, endpoint } = await collect();
  const own = { 'x-api-key': 'secret' };
  const exporter = createOtlpExporter({
    endpoint,
    headers: own,
    serviceVersion: '1',
    onFailed: () => undefined,
  });
  exporter.add(SPAN);
  await exporter.close();
  expect(headers).toMatchObject([{ ...own, 'content-type': 'application/json' }]);
});

it('trusts the certificates that it is given, and no others', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ortler-otlp-'));
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', keyFile, '-out', certFile];
  await promisify(execFile)('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    ...subject,
    ...files,
  ]);
  const [key, cert] = [await readFile(keyFile, 'utf8'), await readFile(certFile, 'utf8')];
  await rm(folder, { recursive: true });
  let count = 0;
  const server = createHttpsServer({ key, cert }, (request, reply) => {
    count++;
    request.resume().once('end', () => reply.end('{}'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  for (const [tls, lost] of [
    [{ ca: cert }, 0],
    [{}, 1],
  ] as const) {
    const exporter = createOtlpExporter({ endpoint, tls, serviceVersion: '1', onFailed: () => undefined });
    exporter.add(SPAN);
    await exporter.close();
    expect(exporter.lostCount).toBe(lost);
  }
  expect(count).toBe(1);
  server.close();
});
