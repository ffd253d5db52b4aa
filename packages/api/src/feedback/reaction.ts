// Reactions: exactly one emoji, stored with its names with and without skin tone.

import { EMOJI_NAMES } from './emoji-names.ts';

/** The fields stored with an emoji. */
export interface ReactionDescription {
  /** `:thumbs_up_medium_skin_tone:` */
  readonly alias: string;
  /** The emoji without its skin tones. */
  readonly detoned: string;
  /** `:thumbs_up:` */
  readonly detoned_alias: string;
}

const TONE_NAMES: ReadonlyMap<string, string> = new Map([
  ['\u{1f3fb}', 'light'],
  ['\u{1f3fc}', 'medium-light'],
  ['\u{1f3fd}', 'medium'],
  ['\u{1f3fe}', 'medium-dark'],
  ['\u{1f3ff}', 'dark'],
]);
const TONE = /[\u{1f3fb}-\u{1f3ff}]/gu;
/** Selects the emoji presentation of a character; optional in an emoji. */
const VARIATION_SELECTOR = /\ufe0f/g;
/** Longer than any emoji. Unit: UTF-16 code units. */
const MAX_LENGTH = 64;

let names: ReadonlyMap<string, string> | undefined;

/** Whether the text is exactly one emoji; a sequence (family, skin tone) is one emoji. */
export function isSingleEmoji(text: string): boolean {
  return findName(text) !== undefined;
}

/** Names of an emoji; only for texts that `isSingleEmoji`. */
export function describeReaction(emoji: string): ReactionDescription {
  const name = findName(emoji)!;
  const tones = isTone(emoji) ? [] : [...new Set(emoji.match(TONE) ?? [])];
  const toned = tones.map(tone => `_${TONE_NAMES.get(tone)}_skin_tone`).join('');
  return {
    alias: `:${name.replace('~', toned)}:`,
    detoned: isTone(emoji) ? emoji : emoji.replace(TONE, ''),
    detoned_alias: `:${name.replace('~', '')}:`,
  };
}

/** The name in the table: with `~` when the emoji has skin tones. */
function findName(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  if (isTone(text)) return `${TONE_NAMES.get(text)}_skin_tone`;
  names ??= new Map(EMOJI_NAMES.split('|').map(pair => pair.split(' ', 2) as [string, string]));
  const tones = text.match(TONE) ?? [];
  // A tone follows a person or a hand, so never another tone; no emoji has more than two.
  if (tones.length > 2 || /[\u{1f3fb}-\u{1f3ff}]{2}|^[\u{1f3fb}-\u{1f3ff}]/u.test(text)) return undefined;
  const name = names.get(text.replace(TONE, '').replace(VARIATION_SELECTOR, ''));
  return tones.length > 0 && name?.includes('~') !== true ? undefined : name;
}

function isTone(text: string): boolean {
  return TONE_NAMES.has(text);
}
