// The API key of this tab. It is kept in sessionStorage, which ends with the tab, and nowhere else.

const STORAGE_NAME = 'ortler-api-key';

/** The key that was given in this tab; null before. */
export function readApiKey(): string | null {
  return sessionStorage.getItem(STORAGE_NAME);
}

/** Whether a server could have this key: printable ASCII without spaces. A browser sends no header with other characters. */
export const isPossibleKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

export function saveApiKey(key: string): void {
  sessionStorage.setItem(STORAGE_NAME, key);
}

export function forgetApiKey(): void {
  sessionStorage.removeItem(STORAGE_NAME);
}
