// The key by which requests with the same beginning go to the same server, whose cache holds it.

/** A conversation is known by its first messages up to the first of the user, or by the beginning of its prompt. */
const MAX_LENGTH = 1_024;

type Body = { readonly messages?: unknown; readonly prompt?: unknown };

/** Null: the request has no beginning to know it by. */
export function prefixKey({ messages, prompt }: Body): string | null {
  if (Array.isArray(messages) && messages.length > 0) {
    const isUser = (message: { readonly role?: unknown } | null) => message?.role === 'user';
    const firstUser = messages.findIndex(isUser);
    return JSON.stringify(messages.slice(0, firstUser + 1 || 1)).slice(0, MAX_LENGTH);
  }
  if (typeof prompt === 'string' && prompt !== '') return prompt.slice(0, MAX_LENGTH);
  if (Array.isArray(prompt) && prompt.length > 0) return JSON.stringify(prompt).slice(0, MAX_LENGTH);
  return null;
}
