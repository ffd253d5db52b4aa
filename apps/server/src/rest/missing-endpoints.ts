// Endpoints of OpenAI's API and of other servers that do not exist here, with what to use in their place.

const MISSING: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [
    /^(\/v1\/embeddings|\/embeddings?|\/v1\/score|\/score|\/(v1\/|v2\/)?rerank|\/pooling|\/classify|\/api\/embed(dings)?)$/,
    'Models here generate text and give no embeddings: send them to a server of an embedding model, such as text-embeddings-inference, under a base URL of its own.',
  ],
  [/^\/v1\/(audio|images|videos|realtime|moderations)\b/, 'Models here read and write text only.'],
  [/^\/(chat\/completions|completions|responses|models)$/, 'It is below /v1: let the base URL end with /v1.'],
  [/^\/v1\/v1\//, 'The path has /v1 twice: the base URL ends with /v1, or the client adds it.'],
  [/^\/v1\/(tokenize|detokenize|health|metrics|version)$/, 'It is not below /v1.'],
  [
    /^\/v1\/messages\b/,
    'This is no endpoint of Anthropic’s API: chats are at /v1/chat/completions and /v1/responses.',
  ],
  [
    /^\/api\/(chat|generate|tags|show|pull|ps|version)$/,
    'This is OpenAI’s API, not Ollama’s: chats are at /v1/chat/completions, texts at /v1/completions, models at /v1/models.',
  ],
  [/^\/(completion|generate|generate_stream)$/, 'Texts are continued at /v1/completions.'],
  [/^\/infill$/, 'No model here fills in the middle; texts are continued at /v1/completions.'],
  [/^\/(props|slots)$/, 'Models and their contexts are at /v1/models, states at /health, load at /metrics.'],
  [/^\/apply-template$/, 'The tokens of a conversation are at /tokenize, with `messages`.'],
  [
    /^\/(v1\/(un)?load_lora_adapter|lora-adapters)$/,
    'Adapters are checkpoints: register them at /v1/preview/models/{model_id}/checkpoints.',
  ],
];

/** The message of a 404. */
export function describeMissing(path: string, shownPath: string): string {
  const bare = path.replace(/\/$/, '');
  const advice = MISSING.find(([pattern]) => pattern.test(bare))?.[1];
  return `There is nothing at ${shownPath}. ${advice ?? 'All endpoints are listed at /docs.'}`;
}
