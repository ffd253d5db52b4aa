// Routes beside the api: health, version, metrics, the OpenAPI document and its page. None of them needs a key.

import type { AppRouter, ModelCatalog } from '@ortler/api';
import type { FastifyInstance } from 'fastify';
import { isServing, reportHealth } from './health.ts';
import type { Metrics } from './metrics.ts';
import { VERSION } from './version.ts';

export interface SystemRoutesOptions {
  readonly catalog: ModelCatalog;
  readonly metrics: Metrics;
  readonly router: AppRouter;
}

/** Unit: seconds. How long a load balancer should wait while no model answers. */
const RETRY_AFTER_S = 2;

/** Registers the routes. */
export function registerSystemRoutes(
  app: FastifyInstance,
  { catalog, metrics, router }: SystemRoutesOptions,
): void {
  const answerHealth = async (
    _request: unknown,
    reply: { code(status: number): unknown; header: HeaderSetter },
  ) => {
    const report = reportHealth(catalog);
    reply.header('cache-control', 'no-store');
    if (!isServing(report)) {
      reply.code(503);
      reply.header('retry-after', RETRY_AFTER_S);
    }
    return report;
  };
  app.get('/health', answerHealth);
  app.get('/ping', answerHealth);
  app.post('/ping', answerHealth);
  app.get('/version', async () => ({ version: VERSION }));
  app.get('/metrics', async (_request, reply) => {
    reply.header('content-type', metrics.contentType);
    return metrics.render();
  });

  // The generator and its libraries are loaded when somebody asks.
  let document: Promise<unknown> | undefined;
  app.get('/openapi.json', () => {
    document ??= import('@ortler/api/openapi').then(({ createOpenApiDocument }) =>
      createOpenApiDocument(router, { version: VERSION }),
    );
    return document;
  });

  let page: ReturnType<typeof import('./docs-page.ts').createDocsPage> | undefined;
  app.get('/docs', (_request, reply) => reply.redirect('/docs/', 302));
  app.get('/docs/*', async (request, reply) => {
    page ??= import('./docs-page.ts').then(({ createDocsPage }) => createDocsPage());
    const handle = await page;
    reply.hijack();
    handle(request.raw, reply.raw);
  });
  app.get('/', (_request, reply) => reply.redirect('/docs/', 302));
}

type HeaderSetter = (name: string, value: string | number) => unknown;
