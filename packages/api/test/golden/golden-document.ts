// The document that the golden file holds. The version is fixed, so releases do not change the file.

import { createAppRouter } from '../../src/app-router.ts';
import { createOpenApiDocument } from '../../src/openapi.ts';
import { createFakeServices } from '../../src/testing/index.ts';

export function goldenDocument(): Record<string, unknown> {
  return createOpenApiDocument(createAppRouter(createFakeServices()), { version: '0.0.0' });
}
