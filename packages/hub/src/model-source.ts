// Where a model comes from: a path, or a name that is fetched. A path that exists wins over a name.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { HubError } from './errors.ts';
import { fetchModel } from './fetch-model.ts';
import type { FetchModelOptions } from './fetch-options.ts';
import { isModelReference, type ModelReference, parseModelReference } from './model-reference.ts';

export type ModelSource =
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'hub'; readonly reference: ModelReference };

/**
 * A text with the form of a name is one unless such a path exists; anything else is a path. Paths become absolute.
 * Throws: `reference_invalid` for no text at all.
 */
export function parseModelSource(text: string): ModelSource {
  if (typeof text !== 'string' || text.trim() === '')
    throw new HubError(
      'reference_invalid',
      'A model is given by its name, such as org/model, or by its path; got none.',
    );
  const path = resolve(text.replace(/^~(?=$|[/\\])/, () => homedir()));
  if (existsSync(path) || !isModelReference(text)) return { kind: 'path', path };
  return { kind: 'hub', reference: parseModelReference(text) };
}

/** As `parseModelSource`. Throws: `reference_invalid` also for a bare word that is not a path here, which may be a name in part. */
export function requireModelSource(text: string): ModelSource {
  const source = parseModelSource(text);
  if (source.kind === 'hub' || /[/\\~]/.test(text) || existsSync(source.path)) return source;
  throw new HubError(
    'reference_invalid',
    `${source.path} does not exist, and "${text}" is not a name on the Hub. Names are org/model, org/model@revision and org/model:QUANT.`,
  );
}

/**
 * Path of the model: of a folder, or of a GGUF file. A name is fetched first. Whether a path exists is not checked, except that of
 * a bare word. Throws: as `requireModelSource` and `fetchModel`.
 */
export async function resolveModel(
  source: string | ModelSource,
  options: FetchModelOptions = {},
): Promise<string> {
  const parsed = typeof source === 'object' ? source : requireModelSource(source);
  if (parsed.kind === 'path') return parsed.path;
  try {
    return (await fetchModel(parsed.reference, options)).path;
  } catch (error) {
    if (!(error instanceof HubError) || error.code !== 'repository_not_found') throw error;
    // The text may have been meant as a path.
    const message = `${error.message} Nor is there a folder ${parsed.reference.repository} here.`;
    throw new HubError(error.code, message, { cause: error });
  }
}
