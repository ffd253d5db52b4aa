// The API documentation page (Scalar) under /docs. Its 4 MB script is loaded on the first visit and served locally.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, toPublicError } from '@ortler/api';
import { fastify } from 'fastify';
import { toErrorBody } from '../rest/error-body.ts';
import { pageHeaders } from '../rest/page-headers.ts';

type RawHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** The path of the page itself; its script is below it. */
const PAGE_PATH = '/docs/';

const CONFIGURATION = {
  // Relative, so that it works behind a path prefix of a proxy.
  url: '../openapi.json',
  // Fonts, agents and developer tools would contact other hosts.
  withDefaultFonts: false,
  // The default proxy would send requests from the page, with their API key, through another host.
  proxyUrl: '',
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  // Each operation shows its schemas; the list `Models` would be confused with the tag `models`.
  hideModels: true,
  authentication: { preferredSecurityScheme: 'bearer' },
};

/** Icon, inlined because browsers would request /favicon.ico, which a proxy may not forward. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#3b6ea5" d="M2 28 13 6l5 9 3-4 9 17z"/><path fill="#fff" d="m13 6 4 8-3 2-2-2-3 1z"/></svg>',
)}`;

/** Run by the page itself; the security policy of the page has its hash. */
const START_SCRIPT = `
      const server = new URL('..', location.href).href.slice(0, -1);
      Scalar.createApiReference('#app', { ...${JSON.stringify(CONFIGURATION)}, servers: [{ url: server }] });
    `;

// Scalar resolves the servers of a document against the host alone. Only the browser knows the path prefix of a proxy, so
// a script computes the server address.
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <title>Ortler API</title>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="icon" href="${ICON}" />
  </head>
  <body>
    <div id="app"></div>
    <script src="js/scalar.js"></script>
    <script>${START_SCRIPT}</script>
  </body>
</html>
`;

export interface DocsPage {
  readonly answer: RawHandler;
  /** Headers of every reply. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Creates a handler for `/docs`, `/docs/` and the script. */
export async function createDocsPage(): Promise<DocsPage> {
  const { default: apiReference } = await import('@scalar/fastify-api-reference');
  // A separate app, because routes cannot be added to one that is already listening.
  const page = fastify();
  page.addHook('onRequest', async (request, reply) => {
    if (request.method === 'GET' && request.url.split('?', 1)[0] === PAGE_PATH)
      await reply.type('text/html; charset=utf-8').send(PAGE);
  });
  await page.register(apiReference, { routePrefix: '/docs', configuration: { url: CONFIGURATION.url } });
  page.setNotFoundHandler((request, reply) => {
    const known = toPublicError(
      new ApiError('path_not_found', `There is nothing at ${request.url}.`),
      request.id,
    );
    reply.code(known.status).send(toErrorBody(known, 'openai'));
  });
  await page.ready();
  return {
    answer: (request, response) => page.routing(request, response),
    // Scalar sets styles from its script.
    headers: pageHeaders({ inlineScripts: [START_SCRIPT], allowsInlineStyles: true }),
  };
}
