// Names of models: `org/model`, `org/model@revision`, `org/model:QUANT`, `org/model@revision:QUANT`, with or without the
// address of the Hub in front.

import { HubError } from './errors.ts';

export interface ModelReference {
  /** `org/model`. */
  readonly repository: string;
  /** Branch, tag or commit. */
  readonly revision: string;
  /** Quantisation of a GGUF repository, as it was typed. */
  readonly quant?: string;
}

export const DEFAULT_REVISION = 'main';

/** Addresses that are accepted before a name. Source: those that Ollama and the model pages of the Hub show. */
const ADDRESS = /^(?:https?:\/\/)?(?:www\.)?(?:hf\.co|huggingface\.co)\//i;
/** Source: the Hub's own rule for names of owners and repositories. */
const NAME_PART = /^[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?$/;
const MAX_NAME_LENGTH = 96;
/** Names of git references, without those that would leave a folder. */
const REVISION = /^(?!.*\.\.)(?!.*\/\/)[A-Za-z0-9_](?:[\w./+-]*[\w.+-])?$/;
const QUANT = /^[A-Za-z0-9][\w-]*$/;

/** Whether the text has the form of a name. A text with that form may be a path too; `parseModelSource` decides. */
export function isModelReference(text: string): boolean {
  return parse(text) !== undefined;
}

/** Throws: `reference_invalid`. */
export function parseModelReference(text: string): ModelReference {
  const reference = parse(text);
  if (reference !== undefined) return reference;
  throw new HubError(
    'reference_invalid',
    `"${text}" is not a model name. Names are org/model, org/model@revision, and org/model:QUANT for GGUF repositories.`,
  );
}

/** The shortest text that means the same: without the address, and without the revision if it is the default. */
export function formatModelReference({ repository, revision, quant }: ModelReference): string {
  const at = revision === DEFAULT_REVISION ? '' : `@${revision}`;
  return `${repository}${at}${quant === undefined ? '' : `:${quant}`}`;
}

function parse(text: string): ModelReference | undefined {
  // A page of a branch or tag is org/model/tree/revision.
  const name = text.replace(ADDRESS, '').replace(/^([^/]+\/[^/@:]+)\/tree\/(.+?)\/?$/, '$1@$2');
  const [, owner, model, revision = DEFAULT_REVISION, quant] =
    /^([^/@:]+)\/([^/@:]+)(?:@([^:]+))?(?::([^:]+))?$/.exec(name.replace(/\/$/, '')) ?? [];
  if (owner === undefined || model === undefined) return undefined;
  const repository = `${owner}/${model}`;
  const isName = [owner, model].every(part => NAME_PART.test(part) && !/--|\.\./.test(part));
  // A path to a weights file, not a repository.
  if (!isName || repository.length > MAX_NAME_LENGTH || /\.(git|gguf|safetensors|onnx)$/i.test(model))
    return undefined;
  if (!REVISION.test(revision) || (quant !== undefined && !QUANT.test(quant))) return undefined;
  return { repository, revision, ...(quant === undefined ? {} : { quant }) };
}
