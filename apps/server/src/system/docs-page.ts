// The documentation page under /docs. Its 4 MB of script are loaded on the first visit, from this machine only.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, toPublicError } from '@ortler/api';
import { fastify } from 'fastify';
import { toErrorBody } from '../rest/error-body.ts';

type RawHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Builds a handler for `/docs`, `/docs/` and the page's script. */
export async function createDocsPage(): Promise<RawHandler> {
  const { default: apiReference } = await import('@scalar/fastify-api-reference');
  // The page lives in an app of its own: routes cannot be added to one that is already listening.
  const page = fastify();
  await page.register(apiReference, {
    routePrefix: '/docs',
    configuration: {
      // Beside the page, wherever a proxy puts both.
      url: '../openapi.json',
      pageTitle: 'Ortler API',
      // Fonts, assistants and the tools of the page's maker would be fetched from, or send to, other hosts.
      withDefaultFonts: false,
      // Left out, requests that a reader tries could go by a proxy of the page's maker, with the key.
      proxyUrl: '',
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
      // Each operation shows its schemas; a list of them beside the tag `models` would only confuse.
      hideModels: true,
      authentication: { preferredSecurityScheme: 'bearer' },
    },
  });
  page.setNotFoundHandler((request, reply) => {
    const known = toPublicError(
      new ApiError('path_not_found', `There is nothing at ${request.url}.`),
      request.id,
    );
    reply.code(known.status).send(toErrorBody(known, 'openai'));
  });
  await page.ready();
  return (request, response) => page.routing(request, response);
}
