// Services over fake engines: a catalog held in a map, known keys, a clock that stands still.

import { readFeedbackDrafts } from '../feedback/feedback-drafts.ts';
import { NO_LIMITS, RateLimiter } from '../limits/rate-limiter.ts';
import type {
  CatalogModel,
  CheckpointModel,
  GenerationReport,
  ModelStatus,
  Services,
} from '../ports/services.ts';
import type { UsageRecord } from '../ports/usage-services.ts';
import { createFakeAnnotationServices } from './fake-annotation-services.ts';
import { createFakeEngine, type FakeEngine } from './fake-engine.ts';
import { createFakeFeedbackStore } from './fake-feedback-store.ts';
import { createFakeResponseStore } from './fake-response-store.ts';
import { createFakeTrainingServices } from './fake-training-services.ts';

/** The key that `createFakeServices` accepts. It belongs to no team. */
export const TEST_API_KEY = 'test-key';

/** A key of a team, which `createFakeServices` accepts too. */
export function teamApiKey(team: string): string {
  return `${TEST_API_KEY} of ${team}`;
}

/** Unit: milliseconds since 1970. */
const NOW_MS = 1_790_000_000_500;

export interface FakeServices extends Services {
  /** Everything the observer heard. */
  readonly reports: GenerationReport[];
  /** All recorded usage. */
  readonly usages: UsageRecord[];
}

/** Builds services. A model is given as a fake engine, ready, or as any other status. The first is the default. */
export function createFakeServices(
  models: Readonly<Record<string, FakeEngine | ModelStatus>> = { demo: createFakeEngine() },
  checkpoints: readonly CheckpointModel[] = [],
): FakeServices {
  const reports: GenerationReport[] = [];
  const usages: UsageRecord[] = [];
  const entries = Object.entries(models).map(
    ([id, given]): CatalogModel => ({
      id,
      createdAtSeconds: 1_700_000_000,
      ownedBy: 'ortler',
      root: id,
      status: 'kind' in given ? given : { kind: 'ready', engine: given },
    }),
  );
  return {
    reports,
    models: {
      defaultModelId: entries[0]!.id,
      list: () => entries,
      find: id => entries.find(entry => entry.id === id),
    },
    checkpointModels: {
      list: async () => checkpoints,
      find: async id => checkpoints.find(model => model.id === id),
    },
    credentials: {
      async verifyBearer(token) {
        if (token === TEST_API_KEY) return { keyId: 'key-1' };
        const [key, team] = token.split(' of ');
        return key === TEST_API_KEY && team !== undefined ? { keyId: `key of ${team}`, team } : null;
      },
    },
    toolCalling: false,
    promptCacheScope: 'team',
    responses: createFakeResponseStore(),
    feedback: createFakeFeedbackStore(),
    feedbackBodies: { read: readFeedbackDrafts },
    annotations: createFakeAnnotationServices(),
    generations: { tokensGenerated: () => undefined, generationEnded: report => reports.push(report) },
    statistics: {
      facts: () => ({
        version: '0.0.0',
        command: 'ortler',
        startedAtMs: NOW_MS,
        toolCalling: false,
        limits: [],
        models: [],
      }),
      async *samples() {
        yield { atMs: NOW_MS, residentBytes: 0, models: [], routes: [] };
      },
    },
    keys: { list: () => [] },
    limits: new RateLimiter({ perKey: NO_LIMITS, perTeam: NO_LIMITS, now: () => NOW_MS }),
    usage: {
      record: async usage => void usages.push(usage),
      list: async () => [],
    },
    usages,
    training: createFakeTrainingServices(() => NOW_MS),
    now: () => NOW_MS,
  };
}
