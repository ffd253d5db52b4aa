// Characters that count as one where the case does not matter, as Oniguruma has them: the long s (U+017F) is an s, the Kelvin
// sign (U+212A) a k. A class of single characters cannot say that a text of two equals one letter (`ss` and the sharp s).

/** Letters that are written as one. */
const LIGATURES: readonly string[] = ['ss', 'ff', 'fi', 'fl', 'st'];
/** Letters with case end below. */
const CASED_END = 0x1f000;
const ASCII_FORMS: readonly string[] = [...Array.from({ length: 128 }, (_, code) => code), 0x17f, 0x212a].map(
  code => String.fromCodePoint(code),
);

/** By character: an expression may have many. */
const known = new Map<string, readonly string[]>();
let cased: readonly string[] | undefined;

/** The character and all that count as it. */
export function caseForms(character: string): readonly string[] {
  if (!/\p{L}/u.test(character)) return [character];
  const found = known.get(character);
  if (found !== undefined) return found;
  const isSame = new RegExp(`^${character}$`, 'iv');
  const candidates = character <= 'z' ? ASCII_FORMS : casedLetters();
  const forms = candidates.filter(each => isSame.test(each));
  const all = forms.length === 0 ? [character] : forms;
  known.set(character, all);
  return all;
}

/** Others count as no other letter. */
function casedLetters(): readonly string[] {
  cased ??= Array.from({ length: CASED_END }, (_, code) => String.fromCodePoint(code)).filter(
    each => each.toLowerCase() !== each || each.toUpperCase() !== each,
  );
  return cased;
}

/** Whether the character, or it and the one before (empty: none), equal a text of another length. */
export function foldsToOtherLength(before: string, character: string): boolean {
  return (
    LIGATURES.includes((before + character).toLowerCase()) ||
    character.toUpperCase().length > character.length
  );
}
