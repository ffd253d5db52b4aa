// The ports of the api: what it needs from whoever hosts it. apps/server implements them; tests use fakes.
// Nothing here knows HTTP, files or SQL.

import type { Engine } from '@ortler/engine';
import type { FeedbackStore } from './feedback/feedback-services.ts';
import type { TrainingServices } from './training/training-services.ts';

/** What a model can do now. A ready model may still be restarting inside; its engine then says so itself. */
export type ModelStatus =
  | { readonly kind: 'loading'; readonly detail: string }
  | { readonly kind: 'ready'; readonly engine: Engine }
  | { readonly kind: 'failed'; readonly detail: string };

/** One model that clients can name. */
export interface CatalogModel {
  readonly id: string;
  /** Unit: seconds since 1970. The same on every start. */
  readonly createdAtSeconds: number;
  readonly ownedBy: string;
  /** Id of the model this one derives from; its own id for a base model. */
  readonly root: string;
  readonly status: ModelStatus;
}

export interface ModelCatalog {
  /** Answers requests that name no model. */
  readonly defaultModelId: string;
  list(): readonly CatalogModel[];
  find(id: string): CatalogModel | undefined;
}

/** Who a key belongs to. */
export interface Principal {
  readonly keyId: string;
}

export interface CredentialVerifier {
  /** The owner of an API key, or null for a key that is not known. Its time says nothing about the known keys. */
  verifyBearer(token: string): Promise<Principal | null>;
}

/** What is known when a generation ends, for metrics and logs. Unit of all durations: milliseconds. */
export interface GenerationReport {
  readonly modelId: string;
  /** `refused`: the request never ran, because a value was wrong or there was no room. */
  readonly outcome: 'finished' | 'aborted' | 'failed' | 'refused';
  readonly finishReasons: readonly string[];
  readonly promptTokenCount: number;
  readonly completionTokenCount: number;
  readonly cachedTokenCount: number;
  readonly choiceCount: number;
  readonly durationMs: number;
  /** Null when no token came. */
  readonly firstTokenMs: number | null;
}

export interface GenerationObserver {
  generationEnded(report: GenerationReport): void;
}

/** Everything the procedures call. Clock and ids come in, so that tests know them. */
export interface Services {
  readonly models: ModelCatalog;
  readonly credentials: CredentialVerifier;
  readonly generations: GenerationObserver;
  readonly feedback: FeedbackStore;
  readonly training: TrainingServices;
  /** Unit: milliseconds since 1970. */
  readonly now: () => number;
}
