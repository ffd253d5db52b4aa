// References of trained models: `<entity>/<project>/<name>`, shortened to `<name>` if entity and project are the default,
// with the suffix `:step<N>` for one checkpoint. Models are listed and served under these names.

import type { TrainingModelName } from '../ports/training-services.ts';
import { DEFAULT_NAMESPACE } from '../team.ts';

/** The reference of a model. It is unique, because no part may contain a slash or a colon. */
export function toModelReference({ entity, project, name }: TrainingModelName): string {
  const isDefault = entity === DEFAULT_NAMESPACE && project === DEFAULT_NAMESPACE;
  return isDefault ? name : `${entity}/${project}/${name}`;
}

/**
 * Parses a reference; a name alone belongs to the entity `home`. Null: no model can have this reference.
 */
export function parseModelReference(
  reference: string,
  home: string = DEFAULT_NAMESPACE,
): TrainingModelName | null {
  const parts = reference.split('/');
  const [entity, project, name] = parts.length === 1 ? [home, DEFAULT_NAMESPACE, parts[0]!] : parts;
  if (parts.length !== 1 && parts.length !== 3) return null;
  if (!entity || !project || !name || /:/.test(reference)) return null;
  return { entity, project, name };
}

/** Model id of one checkpoint. */
export function toCheckpointReference(modelName: string, step: number): string {
  return `${modelName}:step${step}`;
}

/** Prefix of model names in chats from training clients of the hosted service. */
const ARTIFACT_PREFIX = 'wandb-artifact:///';

/**
 * Splits `<model>` or `<model>:step<N>`, with or without the prefix of an artifact. `step` null means the newest
 * checkpoint.
 */
export function parseCheckpointReference(reference: string): {
  readonly modelName: string;
  readonly step: number | null;
} {
  const name = reference.startsWith(ARTIFACT_PREFIX) ? reference.slice(ARTIFACT_PREFIX.length) : reference;
  const [, modelName, digits] = /^(.+):step(\d{1,15})$/.exec(name) ?? [];
  if (modelName === undefined) return { modelName: name, step: null };
  return { modelName, step: Number(digits) };
}
