// Models of text and images: their text part is built, and images are refused by the server.

/** The `model_type` of the part that `text_config` describes, by that of the wrapper. */
const TEXT_PARTS: ReadonlyMap<string, string> = new Map([
  ['gemma3', 'gemma3_text'],
  ['gemma4', 'gemma4_text'],
  ['mistral3', 'mistral'],
]);

/** Names of the wrappers that are built. */
export const WRAPPER_TYPES: readonly string[] = [...TEXT_PARTS.keys()];

/** The configuration of the text part; undefined for a model of text alone. */
export function textPart(json: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(json) || typeof json.model_type !== 'string') return undefined;
  const modelType = TEXT_PARTS.get(json.model_type);
  if (modelType === undefined || !isObject(json.text_config)) return undefined;
  // The head belongs to the wrapper.
  const tied = json.tie_word_embeddings;
  const shared = tied === undefined ? {} : { tie_word_embeddings: tied };
  return { model_type: modelType, ...shared, ...json.text_config };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
