// The ports of the api: what it needs from whoever hosts it. apps/server implements them; tests use fakes.
// Nothing here knows HTTP, files or SQL.

import type { Engine, PromptTiming } from '@ortler/engine';
import type { AnnotationServices } from './annotation-services.ts';
import type { FeedbackStore } from './feedback-services.ts';
import type { TrainingServices } from './training-services.ts';

/** What a model can do now. A ready model may still be restarting inside; its engine then says so itself. */
export type ModelStatus =
  | { readonly kind: 'loading'; readonly detail: string }
  | { readonly kind: 'ready'; readonly engine: Engine }
  /** Loading failed and is tried again. Unit of the pause before that: milliseconds. */
  | { readonly kind: 'restarting'; readonly detail: string; readonly retryAfterMs: number }
  | { readonly kind: 'failed'; readonly detail: string };

/** What the model list says of a model. */
export interface ModelIdentity {
  readonly id: string;
  /** Unit: seconds since 1970. The same on every start. */
  readonly createdAtSeconds: number;
  readonly ownedBy: string;
  /** Id of the model this one derives from; its own id for a base model. */
  readonly root: string;
}

/** A model of the operator: always loaded, or on its way there. */
export interface CatalogModel extends ModelIdentity {
  readonly status: ModelStatus;
}

/** An engine that stays loaded until it is given back. */
export interface EngineLease {
  readonly engine: Engine;
  /** Call it once, when the request has ended however it did. */
  release(): void;
}

/** A registered checkpoint as a model: loaded when a request needs it. */
export interface CheckpointModel extends ModelIdentity {
  /** What answers are signed with: the checkpoint itself, also when it was named as the newest of its model. */
  readonly servedId: string;
  /** Loads the model if need be, and waits for that up to a limit. Throws: `ApiError` `model_unavailable`. */
  open(signal: AbortSignal): Promise<EngineLease>;
}

/** Everything that a chat request may name. */
export type ServedModel = CatalogModel | CheckpointModel;

/** Models of the operator. Their ids win over those of checkpoints. */
export interface ModelCatalog {
  /** Answers requests that name no model. */
  readonly defaultModelId: string;
  list(): readonly CatalogModel[];
  find(id: string): CatalogModel | undefined;
}

/** Checkpoints that can answer. */
export interface CheckpointModels {
  /** Those that the caller may reach. */
  list(caller: Principal): Promise<readonly CheckpointModel[]>;
  /** Undefined also for a checkpoint that the caller may not reach. Names without an entity are those of its team. */
  find(id: string, caller: Principal): Promise<CheckpointModel | undefined>;
}

/** Who a key belongs to. */
export interface Principal {
  readonly keyId: string;
  /** Absent: the key belongs to no team and reaches what all teams have; see team.ts. */
  readonly team?: string;
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
  readonly choiceCount: number;
  /** Tokens of the longest choice. */
  readonly longestChoiceTokenCount: number;
  readonly durationMs: number;
  /** Null when no token came. */
  readonly firstTokenMs: number | null;
  /** From tokens of a choice to its next ones, as they were handed on; tokens that come together are one entry. */
  readonly tokenGapsMs: readonly number[];
  /** What the engine says of it; null where it says nothing: no token came, or the request was a search with beams. */
  readonly timing: PromptTiming | null;
  /** From the first token to the last, whenever they were read; null as `timing`, and where the end did not come. */
  readonly decodeMs: number | null;
}

export interface GenerationObserver {
  generationEnded(report: GenerationReport): void;
}

/** Everything the procedures call. Clock and ids come in, so that tests know them. */
export interface Services {
  readonly models: ModelCatalog;
  readonly checkpointModels: CheckpointModels;
  readonly credentials: CredentialVerifier;
  readonly generations: GenerationObserver;
  /** Whose requests may share cached prompts: those of one team, or those of everybody on this server. */
  readonly promptCacheScope: 'team' | 'server';
  readonly feedback: FeedbackStore;
  readonly annotations: AnnotationServices;
  readonly training: TrainingServices;
  /** Unit: milliseconds since 1970. */
  readonly now: () => number;
}
