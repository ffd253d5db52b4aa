// Chat requests as any client sends them, read without the schemas on purpose: what the wire carries is the claim.

import { expect } from 'vitest';
import type { RunningServer } from './server.ts';
import { readEvents } from './sse.ts';

// biome-ignore lint/suspicious/noExplicitAny: see above.
export type Json = any;

export const CHAT_PATH = '/v1/chat/completions';
/** One user message. */
export const USER = [{ role: 'user', content: 'What is the capital of France?' }];

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

export interface ChatClient {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Posts `body`, text as it is and anything else as JSON. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** One user message with these fields, which must be answered with 200. */
  chat(fields?: object, headers?: Record<string, string>): Promise<Json>;
  /** The same, streamed: all chunks. */
  stream(fields?: object): Promise<Json[]>;
  /** Expects a 400 of the wire's form; gives the error object. */
  refused(fields: object, param?: string | null, type?: string): Promise<Json>;
}

export function createChatClient({ url, apiKey }: Pick<RunningServer, 'url' | 'apiKey'>): ChatClient {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const send = (path: string, body: unknown, more: Record<string, string> = {}) =>
    fetch(url + path, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const post = async (path: string, body: unknown, more?: Record<string, string>): Promise<Reply> => {
    const reply = await send(path, body, more);
    return { status: reply.status, headers: reply.headers, body: await reply.json() };
  };
  return {
    url,
    headers,
    post,
    async chat(fields = {}, more) {
      const { status, body } = await post(CHAT_PATH, { messages: USER, ...fields }, more);
      expect(status, JSON.stringify(body).slice(0, 500)).toBe(200);
      return body;
    },
    async stream(fields = {}) {
      const reply = await send(CHAT_PATH, { messages: USER, ...fields, stream: true });
      expect(reply.status).toBe(200);
      expect(reply.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      return [...(await readEvents(reply))];
    },
    async refused(fields, param, type) {
      const { status, body } = await post(CHAT_PATH, { messages: USER, ...fields });
      expect(status, JSON.stringify(body).slice(0, 300)).toBe(400);
      const { error } = body;
      expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
      expect([400, 'context_length_exceeded']).toContain(error.code);
      expect(error.message).toMatch(/\S/);
      if (param !== undefined) expect(error.param).toBe(param);
      if (type !== undefined) expect(error.type).toBe(type);
      return error;
    },
  };
}
