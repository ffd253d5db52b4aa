// Test doubles for packages that host the api.

export { collect } from './collect.ts';
export { errorOf } from './error-of.ts';
export { createFakeEngine, type FakeEngine, type FakeEngineScript } from './fake-engine.ts';
export { createFakeServices, type FakeServices, TEST_API_KEY, teamApiKey } from './fake-services.ts';
export { createFakeTrainingServices } from './fake-training-services.ts';
