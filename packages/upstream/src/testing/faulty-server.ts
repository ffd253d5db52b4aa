// A server that answers as its script says: one step for each request, the last one for all that follow.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Step = (response: ServerResponse, request: IncomingMessage) => void;

export interface FaultyServer {
  readonly url: string;
  /** Bodies of all requests, in the order of their arrival. */
  readonly bodies: string[];
  readonly headers: IncomingMessage['headers'][];
  /** Connections that the client ended before the answer. */
  readonly leftCount: number;
  close(): Promise<void>;
}

export async function startFaultyServer(...steps: readonly Step[]): Promise<FaultyServer> {
  const bodies: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let leftCount = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    headers.push(request.headers);
    response.on('close', () => {
      if (!response.writableFinished) leftCount++;
    });
    steps[Math.min(bodies.length, steps.length) - 1]!(response, request);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    bodies,
    headers,
    get leftCount() {
      return leftCount;
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8' };

export const steps = {
  json:
    (value: unknown, status = 200, headers: Record<string, string> = {}): Step =>
    response =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(typeof value === 'string' ? value : JSON.stringify(value)),
  /** Each text is one write. */
  events:
    (...texts: readonly string[]): Step =>
    response => {
      response.writeHead(200, EVENTS);
      for (const text of texts) response.write(text);
      response.end();
    },
  /** Writes the texts, then loses the connection. */
  eventsThenReset:
    (...texts: readonly string[]): Step =>
    response => {
      response.writeHead(200, EVENTS);
      response.flushHeaders();
      for (const text of texts) response.write(text);
      setTimeout(() => response.destroy(), 20);
    },
  /** Writes the texts, then nothing. */
  eventsThenSilence:
    (...texts: readonly string[]): Step =>
    response => {
      response.writeHead(200, EVENTS);
      response.flushHeaders();
      for (const text of texts) response.write(text);
    },
  /** Serves a model list to GET, and answers everything else by another step. */
  listing:
    (models: unknown, other: Step): Step =>
    (response, request) =>
      request.method === 'GET' ? steps.json({ data: models })(response, request) : other(response, request),
  reset: (response: ServerResponse) => void response.destroy(),
  nothing: () => undefined,
};
