// How a trained model is named: `<entity>/<project>/<name>`, shortened to `<name>` where entity and project are the
// default, and `:step<N>` behind it for one checkpoint. Servers list and answer chats under these names.

import type { TrainingModelName } from '../ports/training-services.ts';
import { DEFAULT_NAMESPACE } from '../team.ts';

/** A model's name in one text. No part may hold a slash or a colon, so two models never share it. */
export function toModelReference({ entity, project, name }: TrainingModelName): string {
  const isDefault = entity === DEFAULT_NAMESPACE && project === DEFAULT_NAMESPACE;
  return isDefault ? name : `${entity}/${project}/${name}`;
}

/**
 * Reads what `toModelReference` wrote, and a name alone as one of the entity `home`. Null: no model can have this name.
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

/** Name of one checkpoint as a model id. */
export function toCheckpointReference(modelName: string, step: number): string {
  return `${modelName}:step${step}`;
}

/** What training clients of the hosted service put before the whole name of a model when they chat with it. */
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
