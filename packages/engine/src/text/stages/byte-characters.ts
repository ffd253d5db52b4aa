// The printable characters by which byte-level vocabularies write bytes. Source: openai/gpt-2 `bytes_to_unicode`.

/** The character of each byte. */
const CHARACTER_OF_BYTE: readonly string[] = (() => {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    return String.fromCharCode(isPrintable ? byte : next++);
  });
})();

/** The byte behind each character, by its code; -1 for characters that stand for none. */
export const BYTE_OF_CHARACTER: Int16Array = (() => {
  const table = new Int16Array(512).fill(-1);
  for (const [byte, character] of CHARACTER_OF_BYTE.entries()) table[character.charCodeAt(0)] = byte;
  return table;
})();

const ONLY_ITSELF = /^[!-~]*$/;

/** The UTF-8 of a text in these characters. */
export function toByteCharacters(text: string): string {
  if (ONLY_ITSELF.test(text)) return text;
  let characters = '';
  for (const byte of Buffer.from(text)) characters += CHARACTER_OF_BYTE[byte]!;
  return characters;
}
