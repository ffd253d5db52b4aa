// Models of text and images: their text part is built, and images are refused by the server.

export interface Wrapper {
  /** `model_type` of the part that `text_config` describes, where it does not name one. */
  readonly textType: string;
  /** As of an `Architecture`. */
  readonly names: string;
}

/** By the `model_type` of the wrapper. */
export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map(
  Object.entries({
    gemma3: { textType: 'gemma3_text', names: 'Gemma 3 4B to 27B, MedGemma (text; images are refused)' },
    gemma4: {
      textType: 'gemma4_text',
      names: 'Gemma 4, dense, E2B and E4B (text; images and sound are refused)',
    },
    mistral3: {
      textType: 'mistral',
      names: 'Mistral Small 3.1 and 3.2, Ministral 3 (text; images are refused)',
    },
    qwen3_5: { textType: 'qwen3_5_text', names: 'Qwen 3.5 and 3.6, dense (text; images are refused)' },
    qwen3_5_moe: { textType: 'qwen3_5_moe_text', names: 'Qwen 3.5 and 3.6, MoE (text; images are refused)' },
  }),
);

/** The configuration of the text part; undefined for a model of text alone. */
export function textPart(json: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(json) || typeof json.model_type !== 'string') return undefined;
  const wrapper = WRAPPERS.get(json.model_type);
  if (wrapper === undefined || !isObject(json.text_config)) return undefined;
  // The head belongs to the wrapper.
  const tied = json.tie_word_embeddings;
  const shared = tied === undefined ? {} : { tie_word_embeddings: tied };
  return { model_type: wrapper.textType, ...shared, ...json.text_config };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
