// Names of the reasoning formats in options and settings; `text/reasoning/reasoning-format.ts` holds the formats.

export const REASONING_FORMAT_NAMES = ['think', 'mistral', 'seed', 'granite', 'channels'] as const;

export type ReasoningFormatName = (typeof REASONING_FORMAT_NAMES)[number];

/** `auto`: the format whose mark the chat template has. `none`: output is not split. */
export const REASONING_PARSERS = ['auto', 'none', ...REASONING_FORMAT_NAMES] as const;

export type ReasoningParser = (typeof REASONING_PARSERS)[number];
