// What routers of SGLang's family (sglang-router, smg) read of a server before they send requests: the names of its default
// model, and its limits. Fields that this server has no value for are left out. Source: `discover_metadata.rs` of sglang-router.

import type { CatalogModel, ModelCatalog } from '@ortler/api';

export interface ServerInfo extends ModelInfo {
  readonly version: string;
  /** Maximum number of answers that run at once. Absent until the model is loaded, like those below. */
  readonly max_running_requests?: number;
  /** Maximum number of tokens of prompt and answer together. */
  readonly context_length?: number;
}

export interface ModelInfo {
  readonly model_path: string;
  readonly served_model_name: string;
  readonly tokenizer_path: string;
  readonly is_generation: true;
  /** Architecture, as `config.json` names it. Absent until the model is loaded. */
  readonly model_type?: string;
}

/** The names of the model that answers requests without a name. */
export function reportModel(catalog: ModelCatalog): ModelInfo {
  const model = defaultModel(catalog);
  const { id, status } = model;
  return {
    model_path: id,
    served_model_name: id,
    tokenizer_path: id,
    is_generation: true,
    ...(status.kind === 'ready' && { model_type: status.engine.info.modelType }),
  };
}

/** Those names, and the limits of the model. */
export function reportServer(catalog: ModelCatalog, version: string): ServerInfo {
  const { status } = defaultModel(catalog);
  return {
    ...reportModel(catalog),
    version,
    ...(status.kind === 'ready' && {
      max_running_requests: status.engine.info.maxSequences,
      context_length: status.engine.info.contextLength,
    }),
  };
}

function defaultModel(catalog: ModelCatalog): CatalogModel {
  return catalog.find(catalog.defaultModelId)!;
}
