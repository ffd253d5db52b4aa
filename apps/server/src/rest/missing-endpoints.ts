// Endpoints of OpenAI's API that do not exist here, with what to use in their place.

const MISSING: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [
    /^\/v1\/embeddings\/?$/,
    'Models here generate text and give no embeddings: send them to a server of an embedding model, such as text-embeddings-inference, under a base URL of its own.',
  ],
];

/** The message of a 404. */
export function describeMissing(path: string, shownPath: string): string {
  const advice = MISSING.find(([pattern]) => pattern.test(path))?.[1];
  return [`There is nothing at ${shownPath}.`, advice].filter(Boolean).join(' ');
}
