// Fuzz target: every endpoint, REST and tRPC, with inputs made from the OpenAPI document and hostile values in them. Whatever
// comes, the server answers in time, in JSON where it says so, and never with a 5xx. Run by main.ts and by a test.

import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { createAppRouter, listRestRoutes } from '@ortler/api';
import { createFakeServices } from '@ortler/api/testing';
import { Random } from '../support/random.ts';
import { randomInput, type Schema } from './schema-inputs.ts';

export interface EndpointsFuzzOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly count: number;
  readonly seed: number;
  readonly onProgress?: (done: number, statuses: ReadonlyMap<number, number>) => void;
  /** Called with each failure as it comes. */
  readonly onFailure?: (failure: EndpointFailure) => void;
}

export interface EndpointFailure {
  readonly problem: string;
  readonly request: string;
}

interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly schema: Schema;
}

interface Operation {
  readonly method: string;
  readonly path: string;
  /** Dotted name for tRPC. */
  readonly procedure: string;
  readonly type: 'query' | 'mutation';
  readonly isBasic: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
}

interface Input {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const CONCURRENCY = 16;
const PROGRESS_INTERVAL = 500;
/** Unit: milliseconds. A template and an encoding may take their time limits, one after the other, in a queue. */
const REPLY_LIMIT_MS = 60_000;
const MAX_FAILURES = 20;
/** Ids and cursors of replies that later requests use. */
const MAX_TEXTS = 200;
const FIRST_TEXTS = [
  'a',
  'b',
  'acme/app',
  'acme',
  'weave:///acme/app/call/1',
  'custom',
  'user',
  'Hello',
  'train',
];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'];
/** Places of a request that are strange now and then. */
const ODDITY = 0.02;
const MAX_TOKENS_FIELDS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];

/** Sends `count` requests. Gives all failures, at most twenty; the run ends with the last of those. */
export async function fuzzEndpoints(options: EndpointsFuzzOptions): Promise<readonly EndpointFailure[]> {
  const { url, count, seed, onProgress, onFailure } = options;
  const { operations, components } = await readOperations(url);
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const statuses = new Map<number, number>();
  const failures = new Map<string, EndpointFailure>();
  const texts = [...FIRST_TEXTS];
  let next = 0;
  const work = async () => {
    while (next < count && failures.size < MAX_FAILURES) {
      const number = next++;
      const random = new Random(seed + number);
      const operation = random.pick(operations);
      const input = randomRequest(operation, options, { random, components, texts });
      const problem = await send(url, agent, input).then(
        reply => {
          statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
          if (reply.status < 300) remember(texts, reply.text, random);
          return problemWith(reply, input);
        },
        (error: Error) => `no reply: ${error.message}`,
      );
      if (problem !== undefined) {
        const failure = { problem, request: JSON.stringify({ ...input, number }) };
        failures.set(`${operation.method} ${operation.path} ${problem.slice(0, 60)}`, failure);
        onFailure?.(failure);
      }
      if (number % PROGRESS_INTERVAL === 0) onProgress?.(number, statuses);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  agent.destroy();
  onProgress?.(next, statuses);
  return [...failures.values()];
}

async function readOperations(
  url: string,
): Promise<{ operations: readonly Operation[]; components: Readonly<Record<string, Schema>> }> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Record<string, unknown>>>>>;
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  };
  const operations = listRestRoutes(createAppRouter(createFakeServices())).map(
    ({ method, path, procedure, type, auth }): Operation => {
      const described = document.paths[path]![method.toLowerCase()]!;
      const { requestBody, parameters = [] } = described as {
        readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
        readonly parameters?: readonly Parameter[];
      };
      return {
        method,
        path,
        procedure,
        type,
        isBasic: auth === 'basic',
        parameters,
        body: requestBody?.content['application/json']?.schema,
      };
    },
  );
  return { operations, components: document.components.schemas };
}

interface Source {
  readonly random: Random;
  readonly components: Readonly<Record<string, Schema>>;
  readonly texts: readonly string[];
}

function randomRequest(
  operation: Operation,
  { apiKey }: Pick<EndpointsFuzzOptions, 'apiKey'>,
  source: Source,
): Input {
  const { random } = source;
  const isOdd = () => random.chance(ODDITY);
  // Half of the inputs have no hostile value, so that they reach what is after the checks.
  const draw = { ...source, hostility: random.pick([0, 0, 0.02, 0.1]) };
  const values = (place: Parameter['in']) =>
    operation.parameters
      .filter(parameter => parameter.in === place)
      .map(({ name, schema }) => [name, textOf(randomInput(schema, draw))] as const);
  const body = operation.body === undefined ? undefined : bounded(randomInput(operation.body, draw), random);
  const headers: Record<string, string> = {
    authorization:
      operation.isBasic === isOdd()
        ? `Bearer ${apiKey}`
        : `Basic ${Buffer.from(`api:${apiKey}`).toString('base64')}`,
    'content-type': isOdd()
      ? random.pick(['text/plain', 'application/json; charset=latin1', ''])
      : 'application/json',
  };
  // Wrong keys are answered ever slower, so they are rare.
  if (random.chance(0.0002)) headers.authorization = random.pick(['Bearer x', 'Basic x', '', 'Bearer']);
  for (const [name, value] of values('header'))
    if (random.chance(0.05)) headers[name] = value.replace(/[^\x20-\x7e]/g, '?').slice(0, 500);
  const text = body === undefined ? undefined : broken(JSON.stringify(body) ?? '', random);
  if (random.chance(0.2))
    return trpcRequest(operation, { headers, body, text, params: values('path'), random });
  const query = new URLSearchParams(
    values('query')
      .filter(() => random.chance(0.4))
      .map(([name, value]): [string, string] => [name, value.slice(0, 1_000)]),
  );
  const path = values('path').reduce(
    (filled, [name, value]) => filled.replace(`{${name}}`, encodeOddly(value, random)),
    operation.path,
  );
  return {
    method: isOdd() ? random.pick(METHODS) : operation.method,
    path: query.size > 0 ? `${path}?${query}` : path,
    headers,
    body: text,
  };
}

/** The same procedure over tRPC, sometimes in a batch. */
function trpcRequest(
  { procedure, type }: Operation,
  given: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
    readonly text: string | undefined;
    readonly params: readonly (readonly [string, string])[];
    readonly random: Random;
  },
): Input {
  const { headers, body, random } = given;
  const input =
    typeof body === 'object' && body !== null && !Array.isArray(body)
      ? { ...Object.fromEntries(given.params), ...body }
      : (body ?? Object.fromEntries(given.params));
  const isBatch = random.chance(0.2);
  const names = isBatch ? Array.from({ length: 1 + random.below(3) }, () => procedure) : [procedure];
  const all = isBatch ? Object.fromEntries(names.map((_, index) => [index, input])) : input;
  const path = `/trpc/${names.join()}${isBatch ? '?batch=1' : ''}`;
  const text = JSON.stringify(all) ?? '';
  if (type === 'query' && random.chance(0.5) && text.length < 4_000)
    return {
      method: 'GET',
      path: `${path}${isBatch ? '&' : '?'}input=${encodeURIComponent(toWellFormed(text))}`,
      headers,
      body: undefined,
    };
  return { method: 'POST', path, headers, body: broken(text, random) };
}

/** Answers of two tokens; more would only take time. */
function bounded(body: unknown, random: Random): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || random.chance(0.02)) return body;
  const known = MAX_TOKENS_FIELDS.filter(name => name in body);
  if (known.length === 0 && !('messages' in body) && !('prompt' in body) && !('input' in body)) return body;
  const names = known.length > 0 ? known : ['max_tokens', 'max_output_tokens'];
  return { ...body, ...Object.fromEntries(names.map(name => [name, 2])) };
}

/** Sometimes text that is not JSON, or not as long as it should be. */
function broken(text: string, random: Random): string {
  if (!random.chance(ODDITY)) return text;
  const cut = random.below(text.length + 1);
  return random.pick([
    text.slice(0, cut),
    `${text.slice(0, cut)}${'}]",:0e'[random.below(7)]}${text.slice(cut)}`,
    '',
    'null',
    '[]',
    '[{}]',
    '"x"',
    `${text} x`,
    `{"a":1e400000,${text.slice(1)}`,
  ]);
}

function encodeOddly(value: string, random: Random): string {
  if (random.chance(ODDITY)) return random.pick(['%', '%zz', '..', '.', '%2e%2e%2f', '%00', '']);
  return encodeURIComponent(toWellFormed(value.slice(0, 1_000)));
}

function toWellFormed(text: string): string {
  return text.toWellFormed();
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

async function send(url: string, agent: Agent, { method, path, headers, body }: Input): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const call = request(url + path, {
    method,
    agent,
    headers: { ...headers, ...(bytes !== undefined && { 'content-length': bytes.length }) },
    signal: AbortSignal.timeout(REPLY_LIMIT_MS),
  });
  call.once('error', reject);
  call.once('response', reply => {
    const parts: Buffer[] = [];
    reply.on('data', part => parts.push(part as Buffer));
    reply.once('error', reject);
    reply.once('end', () =>
      resolve({ status: reply.statusCode!, headers: reply.headers, text: Buffer.concat(parts).toString() }),
    );
  });
  call.end(bytes);
  return promise;
}

function problemWith({ status, headers, text }: Reply, { method }: Input): string | undefined {
  if (status >= 500) return `status ${status}: ${text.slice(0, 500)}`;
  const type = headers['content-type'] ?? '';
  if (type.startsWith('text/event-stream')) {
    if (!/\ndata: \[DONE\]\n\n$|event: (response\.(completed|incomplete|failed)|return)\n/.test(text))
      return `a stream without its end: ${text.slice(-300)}`;
    return /^data: \{"error"/m.test(text) ? `a stream that failed: ${text.slice(-500)}` : undefined;
  }
  if (method === 'HEAD' || text === '') return undefined;
  if (!type.startsWith('application/json')) return status < 400 ? undefined : `a ${status} of type ${type}`;
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return `no JSON: ${text.slice(0, 300)}`;
  }
}

/** Mutates: `texts`, to which ids and cursors of a reply are added. */
function remember(texts: string[], text: string, random: Random): void {
  for (const [, found] of text
    .slice(0, 5_000)
    .matchAll(/"(?:\w*id|next_\w+|annotation_ref)":"([^"\\]{1,300})"/g)) {
    if (texts.length < MAX_TEXTS) texts.push(found!);
    else if (random.chance(0.1))
      texts[FIRST_TEXTS.length + random.below(MAX_TEXTS - FIRST_TEXTS.length)] = found!;
  }
}
