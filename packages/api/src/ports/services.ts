// The ports of the api: services that its host provides. apps/server implements them; tests use fakes. They are
// independent of HTTP, files and SQL.

import type { Engine, PromptTiming } from '@ortler/engine';
import type { Upstream } from '@ortler/upstream';
import type { AnnotationServices } from './annotation-services.ts';
import type { FeedbackBodies, FeedbackStore } from './feedback-services.ts';
import type { RateLimiting, RateLimits } from './rate-limiting.ts';
import type { ResponseStore } from './response-services.ts';
import type { KeyDirectory, ServerStatistics } from './statistics-services.ts';
import type { TrainingServices } from './training-services.ts';
import type { UsageStore } from './usage-services.ts';

/** A model that other servers answer for. Requests are passed on to them. */
export interface UpstreamModel
  extends Pick<Upstream, 'postForJson' | 'postForEvents' | 'servers' | 'withoutKey'> {
  /** Its name at those servers. */
  readonly name: string;
  /** `loading`: no server was asked yet; `restarting`: none can be asked now. */
  readonly state: 'loading' | 'ready' | 'restarting';
  /** Maximum number of tokens of prompt and answer together, where the servers say it. */
  readonly contextLength: number | null;
}

/** State of a model. A ready model may still be restarting; see the health of its engine. */
export type ModelStatus =
  | { readonly kind: 'upstream'; readonly upstream: UpstreamModel }
  | { readonly kind: 'loading'; readonly detail: string }
  | { readonly kind: 'ready'; readonly engine: Engine }
  /** Loading failed and is retried. Unit of the pause before that: milliseconds. */
  | { readonly kind: 'restarting'; readonly detail: string; readonly retryAfterMs: number }
  | { readonly kind: 'failed'; readonly detail: string };

/** A model's entry in the model list. */
export interface ModelIdentity {
  readonly id: string;
  /** Unit: seconds since 1970. The same on every start. */
  readonly createdAtSeconds: number;
  readonly ownedBy: string;
  /** Id of the model this one derives from; its own id for a base model. */
  readonly root: string;
}

/** A configured model: loaded, being loaded, or one of other servers. */
export interface CatalogModel extends ModelIdentity {
  readonly status: ModelStatus;
}

/** A lease that keeps an engine loaded until it is released. */
export interface EngineLease {
  readonly engine: Engine;
  /** Must be called once, when the request has ended for any reason. */
  release(): void;
}

/** A registered checkpoint as a model, loaded on demand. */
export interface CheckpointModel extends ModelIdentity {
  /** `model` of its answers: the id of the checkpoint, even if the request named the newest of its model. */
  readonly servedId: string;
  /** Leases the engine, after loading it if needed, within a time limit. Throws: `ApiError` `model_unavailable`. */
  open(signal: AbortSignal): Promise<EngineLease>;
  /** Other servers answer for it, as for its base model; there is no engine. */
  readonly upstream?: UpstreamModel | undefined;
  /**
   * Closes the engine once no request uses it, or stops its loading; another request loads it again. Absent for a model that
   * answers with a configured one.
   */
  readonly unload?: () => void;
}

/** All models that a request may name. */
export type ServedModel = CatalogModel | CheckpointModel;

/** The configured models. Their ids take precedence over those of checkpoints. */
export interface ModelCatalog {
  /** Answers requests that name no model. */
  readonly defaultModelId: string;
  list(): readonly CatalogModel[];
  find(id: string): CatalogModel | undefined;
}

/** Checkpoints that can be served. */
export interface CheckpointModels {
  /** The checkpoints that the caller has access to. */
  list(caller: Principal): Promise<readonly CheckpointModel[]>;
  /** Undefined also without access. Names without an entity belong to the caller's team. */
  find(id: string, caller: Principal): Promise<CheckpointModel | undefined>;
}

/** The owner of an API key. */
export interface Principal {
  readonly keyId: string;
  /** Absent: the key has no team and has access to the data of all teams; see team.ts. */
  readonly team?: string;
  /** Limits of the key that differ from the default ones. */
  readonly limits?: Partial<RateLimits>;
}

export interface CredentialVerifier {
  /** The owner of an API key, or null for an unknown key. Its duration reveals nothing about the known keys. */
  verifyBearer(token: string): Promise<Principal | null>;
}

/** Facts about an ended generation, for metrics and logs. Unit of all durations: milliseconds. */
export interface GenerationReport {
  readonly modelId: string;
  /** `refused`: the request never ran, because a value was invalid or the queue was full. */
  readonly outcome: 'finished' | 'aborted' | 'failed' | 'refused';
  readonly finishReasons: readonly string[];
  readonly promptTokenCount: number;
  readonly completionTokenCount: number;
  readonly choiceCount: number;
  /** `max_tokens` of the request; null where it does not say. */
  readonly maxTokens: number | null;
  /** Tokens of the longest choice. */
  readonly longestChoiceTokenCount: number;
  readonly durationMs: number;
  /** Time to first token (TTFT); null without tokens. */
  readonly firstTokenMs: number | null;
  /** Inter-token latencies (ITL) of all choices, as delivered; tokens delivered together are one entry. */
  readonly tokenGapsMs: readonly number[];
  /** Queue and prefill time reported by the engine; null without tokens and for beam search. */
  readonly timing: PromptTiming | null;
  /** From the first token to the last, as generated; null like `timing`, and for generations that did not finish. */
  readonly decodeMs: number | null;
}

export interface GenerationObserver {
  /** New tokens of a generation that goes on. Called for each of its events that has some. */
  tokensGenerated(modelId: string, count: number): void;
  generationEnded(report: GenerationReport): void;
}

/** All services of the procedures. The clock is injected, so that tests control it. */
export interface Services {
  readonly models: ModelCatalog;
  readonly checkpointModels: CheckpointModels;
  readonly credentials: CredentialVerifier;
  readonly limits: RateLimiting;
  readonly generations: GenerationObserver;
  readonly usage: UsageStore;
  /** Whether requests may ask for tool calls; without it `tool_choice` is `none`. */
  readonly toolCalling: boolean;
  /** Prefix caching: whether cached prompts are shared within a team only or by all callers. */
  readonly promptCacheScope: 'team' | 'server';
  /** Null: responses are not stored. */
  readonly responses: ResponseStore | null;
  readonly feedback: FeedbackStore;
  readonly feedbackBodies: FeedbackBodies;
  readonly annotations: AnnotationServices;
  readonly training: TrainingServices;
  readonly statistics: ServerStatistics;
  readonly keys: KeyDirectory;
  /** Unit: milliseconds since 1970. */
  readonly now: () => number;
}
