// How a trained model is named: `<entity>/<project>/<name>`, shortened to `<name>` where entity and project are the
// default, and `:step<N>` behind it for one checkpoint. Servers list and answer chats under these names.

import type { TrainingModelName } from './training-services.ts';

/** Project of models whose client named none, and their entity when their key has no team. */
export const DEFAULT_NAMESPACE = 'default';

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

/** Splits `<model>` or `<model>:step<N>`. `step` null means the newest checkpoint. */
export function parseCheckpointReference(reference: string): {
  readonly modelName: string;
  readonly step: number | null;
} {
  const [, modelName, digits] = /^(.+):step(\d{1,15})$/.exec(reference) ?? [];
  if (modelName === undefined) return { modelName: reference, step: null };
  return { modelName, step: Number(digits) };
}
