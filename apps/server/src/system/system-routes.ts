// Routes outside the api: health, version, metrics, the OpenAPI document and its page, the console. None of them needs a key.

import { ApiError, type AppRouter, type ModelCatalog } from '@ortler/api';
import type { DeviceChoice } from '@ortler/onnxruntime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createConsoleFiles } from './console-files.ts';
import { describeSystemRoutes } from './describe-system-routes.ts';
import { isServing, reportHealth, reportReadiness } from './health.ts';
import type { Metrics } from './metrics.ts';
import { isMetricsKey } from './metrics-key.ts';
import { reportModel, reportServer } from './server-info.ts';
import type { StorageChecks } from './storage-checks.ts';
import { VERSION } from './version.ts';

/** How /metrics is served: to everyone, with a key, or on a port of its own. */
export type MetricsAccess =
  | { readonly kind: 'open' }
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'elsewhere' };

export interface SystemRoutesOptions {
  readonly catalog: ModelCatalog;
  readonly storage: StorageChecks;
  readonly metrics: Metrics;
  readonly metricsAccess: MetricsAccess;
  /** The device of the models, once it is chosen. */
  readonly device: () => DeviceChoice | undefined;
  /** Whether the server has received a stop signal, and requests should go elsewhere. */
  readonly isStopping: () => boolean;
  readonly router: AppRouter;
}

/** Retry-After for load balancers while the server is not ready. Unit: seconds. */
const RETRY_AFTER_S = 2;

type Answer = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** Registers the routes, with and without a trailing slash; other methods get 405. */
export async function registerSystemRoutes(
  app: FastifyInstance,
  { catalog, storage, metrics, metricsAccess, device, isStopping, router }: SystemRoutesOptions,
): Promise<void> {
  // None of these routes reads a body, so any content type is accepted.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));

  const serve = (path: string, methods: readonly ('GET' | 'POST')[], answer: Answer) => {
    const allowed = methods.includes('GET') ? ['HEAD', ...methods] : methods;
    const refused = app.supportedMethods.filter(name => !['OPTIONS', ...allowed].includes(name));
    const refuse = (request: FastifyRequest, reply: FastifyReply) => {
      reply.header('allow', methods.join(', '));
      const message = `${path} answers ${methods.join(', ')}, not ${request.method}.`;
      throw new ApiError('method_not_allowed', message);
    };
    for (const url of path.endsWith('/') ? [path] : [path, `${path}/`]) {
      app.route({ method: [...methods], url, handler: async (request, reply) => answer(request, reply) });
      // Fastify refuses some methods earlier, for want of a content type.
      app.route({ method: refused, url, handler: refuse, errorHandler: (_, ...route) => refuse(...route) });
    }
  };

  /** 200, or 503 with Retry-After. */
  const tell = (reply: FastifyReply, isWell: boolean, report: object) => {
    reply.header('cache-control', 'no-store');
    if (!isWell) {
      reply.code(503);
      reply.header('retry-after', RETRY_AFTER_S);
    }
    return report;
  };
  const answerHealth: Answer = async (_request, reply) => {
    const report = reportHealth(catalog, {
      device: device(),
      storage: await storage.check(),
      isStopping: isStopping(),
    });
    return tell(reply, isServing(report), report);
  };
  // Whether the process should live: it does not look at anything that a restart would not mend.
  serve('/health/live', ['GET'], (_request, reply) => tell(reply, true, { status: 'alive' }));
  serve('/health/ready', ['GET'], async (_request, reply) => {
    const report = reportReadiness(catalog, await storage.check(), isStopping());
    return tell(reply, report.status === 'ready', report);
  });
  serve('/health', ['GET'], answerHealth);
  serve('/ping', ['GET', 'POST'], answerHealth);
  serve('/version', ['GET'], () => ({ version: VERSION }));
  // For routers of SGLang's family; the second name is that of their older versions.
  for (const path of ['/server_info', '/get_server_info'])
    serve(path, ['GET'], () => reportServer(catalog, VERSION));
  for (const path of ['/model_info', '/get_model_info']) serve(path, ['GET'], () => reportModel(catalog));
  const answerMetrics: Answer = (request, reply) => {
    // Not for pages of other sites in the browser of someone who may reach this port.
    reply.removeHeader('access-control-allow-origin');
    if (metricsAccess.kind === 'key' && !isMetricsKey(request.headers.authorization, metricsAccess.key))
      throw new ApiError(
        'unauthorized',
        'The metrics need their key: Authorization: Bearer <ORTLER_METRICS_KEY>.',
      );
    reply.header('content-type', metrics.contentType);
    return metrics.render();
  };
  if (metricsAccess.kind !== 'elsewhere') serve('/metrics', ['GET'], answerMetrics);

  // The generator and its libraries are loaded on the first request.
  let document: Promise<unknown> | undefined;
  serve('/openapi.json', ['GET'], () => {
    document ??= import('@ortler/api/openapi').then(({ createOpenApiDocument }) =>
      describeSystemRoutes(createOpenApiDocument(router, { version: VERSION })),
    );
    return document;
  });

  let page: ReturnType<typeof import('./docs-page.ts').createDocsPage> | undefined;
  // Relative, so that it works behind a path prefix of a proxy.
  const toPage: Answer = (_request, reply) => reply.redirect('docs/', 302);
  app.get('/docs', toPage);
  app.get('/docs/*', async (request, reply) => {
    page ??= import('./docs-page.ts').then(({ createDocsPage }) => createDocsPage());
    const handle = await page;
    reply.hijack();
    for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...handle.headers }))
      if (value !== undefined) reply.raw.setHeader(name, value);
    handle.answer(request.raw, reply.raw);
  });

  // The console; where it is not built, the documentation.
  const consoleFiles = createConsoleFiles();
  serve('/', ['GET'], (request, reply) => consoleFiles.sendPage(request, reply) ?? toPage(request, reply));
  app.get<{ Params: { '*': string } }>('/assets/*', (request, reply) =>
    consoleFiles.sendAsset(request.params['*'], request, reply),
  );
}
