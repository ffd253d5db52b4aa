// The input of a procedure, gathered from a REST request: query or JSON body, with the parameters of the path.
// Caller: `dispatcher.ts`.

import type { IncomingMessage } from 'node:http';
import type { BytesInput, RestRoute } from '@ortler/api';
import { hasBody, readJsonBody, streamBody } from './read-body.ts';

export interface RequestInputOptions {
  readonly route: RestRoute;
  /** Parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Query of the address with its question mark, or empty. */
  readonly search: string;
  readonly bodyLimitBytes: number;
  readonly streamedBodyLimitBytes: number;
  /** Fires when the client leaves. */
  readonly signal: AbortSignal;
}

/** Reads the request on the first call of `read`: procedures ask for their input after they checked the credentials. */
export class RequestInput {
  readonly #request: IncomingMessage;
  readonly #options: RequestInputOptions;
  #reading: Promise<unknown> | undefined;
  #parsed: unknown;

  constructor(request: IncomingMessage, options: RequestInputOptions) {
    this.#request = request;
    this.#options = options;
  }

  /**
   * The input that was read, to distinguish missing fields from wrong ones. Undefined before that and for
   * streamed bodies.
   */
  get parsed(): unknown {
    return this.#parsed;
  }

  /** The same input each time: several steps may ask, but a body can be read once. Throws: as `readJsonBody`. */
  read(): Promise<unknown> {
    this.#reading ??= this.#read();
    return this.#reading;
  }

  async #read(): Promise<unknown> {
    const { route, params, bodyLimitBytes, streamedBodyLimitBytes } = this.#options;
    if (route.bytesProcedure !== null) {
      const limitBytes = route.hasLongBody ? streamedBodyLimitBytes : bodyLimitBytes;
      return { params, body: streamBody(this.#request, limitBytes) } satisfies BytesInput;
    }
    this.#parsed = withParams(await this.#readQueryOrBody(), params);
    return this.#parsed;
  }

  async #readQueryOrBody(): Promise<unknown> {
    const { route, search, bodyLimitBytes, signal } = this.#options;
    if (route.method === 'GET') return readQuery(search, route.listFields);
    if ((route.method === 'DELETE' || route.isBodyless) && !hasBody(this.#request)) return {};
    return readJsonBody(this.#request, { limitBytes: bodyLimitBytes, style: route.errors, signal });
  }
}

/**
 * A list that comes several times, as clients made from the OpenAPI document send it, or with brackets, as OpenAI's clients do, becomes
 * one list with commas. Of other parameters that come several times the last counts.
 */
function readQuery(search: string, listFields: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [key, value] of new URLSearchParams(search)) {
    const hasBrackets = key.endsWith('[]');
    const name = hasBrackets ? key.slice(0, -2) : key;
    const isList = hasBrackets || listFields.includes(name);
    const known = isList && Object.hasOwn(values, name) ? values[name] : undefined;
    Object.defineProperty(values, name, {
      value: known === undefined ? value : `${known},${value}`,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return values;
}

function withParams(body: unknown, params: Readonly<Record<string, string>>): unknown {
  if (Object.keys(params).length === 0) return body;
  // A body that is not an object is left to the schema to refuse.
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return { ...body, ...params };
}
