// The published ways in which models mark what they think before they answer, and which one a model uses.
// Operators choose one by name; otherwise the model's chat template tells.

import type { ThinkingMarks } from '@ortler/engine';

/** Thinking stands between a start and an end, at the beginning of the answer. */
export interface TagFormat {
  readonly kind: 'tags';
  readonly starts: readonly string[];
  readonly ends: readonly string[];
}

/** The answer is a sequence of messages, each with a channel in its header. */
export interface ChannelFormat {
  readonly kind: 'channels';
}

export type ReasoningFormat = TagFormat | ChannelFormat;

interface NamedFormat {
  readonly format: ReasoningFormat;
  /** A text that only chat templates of such models have. */
  readonly templateMark: string;
  /** Who publishes models that write like this. */
  readonly usedBy: string;
  /** Special tokens that the format is written with, in the vocabularies where they are special. */
  readonly specialTokens: readonly string[];
}

const tags = (starts: readonly string[], ends: readonly string[]): TagFormat => ({
  kind: 'tags',
  starts,
  ends,
});

/** Opens the message with the answer. */
const ANSWER_HEADER = '<|channel|>final<|message|>';

/** All formats by name. `auto` takes the first one whose mark the chat template has. */
export const REASONING_FORMATS = {
  think: {
    format: tags(['<think>'], ['</think>']),
    templateMark: '<think>',
    usedBy: 'DeepSeek-R1, Qwen3, the demo model and many others',
    specialTokens: ['<think>', '</think>'],
  },
  mistral: {
    format: tags(['[THINK]'], ['[/THINK]']),
    templateMark: '[THINK]',
    usedBy: 'Magistral',
    specialTokens: ['[THINK]', '[/THINK]'],
  },
  seed: {
    format: tags(['<seed:think>'], ['</seed:think>']),
    templateMark: '<seed:think>',
    usedBy: 'Seed-OSS',
    specialTokens: ['<seed:think>', '</seed:think>'],
  },
  granite: {
    format: tags(
      ['Here is my thought process:', "Here's my thought process:"],
      ['Here is my response:', "Here's my response:"],
    ),
    templateMark: 'Here is my thought process:',
    usedBy: 'Granite 3.2',
    specialTokens: [],
  },
  channels: {
    format: { kind: 'channels' },
    templateMark: '<|channel|>',
    usedBy: 'gpt-oss',
    specialTokens: [
      '<|start|>',
      '<|channel|>',
      '<|constrain|>',
      '<|message|>',
      '<|end|>',
      '<|call|>',
      '<|return|>',
    ],
  },
} as const satisfies Record<string, NamedFormat>;

export type ReasoningFormatName = keyof typeof REASONING_FORMATS;
/** What an operator may say of a model. */
export type ReasoningParser = ReasoningFormatName | 'auto' | 'none';

export const REASONING_PARSERS: readonly ReasoningParser[] = [
  'auto',
  'none',
  ...(Object.keys(REASONING_FORMATS) as ReasoningFormatName[]),
];

/** The format of a model; null when what it writes is all answer. */
export function chooseReasoningFormat(
  parser: ReasoningParser,
  chatTemplate: string | null,
): ReasoningFormatName | null {
  if (parser === 'none') return null;
  if (parser !== 'auto') return parser;
  const names = Object.keys(REASONING_FORMATS) as ReasoningFormatName[];
  return names.find(name => chatTemplate?.includes(REASONING_FORMATS[name].templateMark)) ?? null;
}

/** Whether a text ends inside the thinking, so that what follows it is thought. */
export function endsInThinking(format: ReasoningFormat, text: string): boolean {
  if (format.kind !== 'tags') return false;
  const last = (marks: readonly string[]) => Math.max(...marks.map(mark => text.lastIndexOf(mark)));
  return last(format.starts) > last(format.ends);
}

/** Whether a prompt ends with the opening of the thinking, as templates write it. */
export function opensThinking(format: ReasoningFormat, prompt: string): boolean {
  const end = prompt.trimEnd();
  return format.kind === 'tags' && format.starts.some(start => end.endsWith(start));
}

/** What the engine must know to hold a constraint back while the model thinks. `continuedText` as in replies. */
export function toThinkingMarks(format: ReasoningFormat, continuedText: string | null): ThinkingMarks {
  // Messages of other channels come before the one that answers.
  if (format.kind === 'channels') return { starts: [], ends: [ANSWER_HEADER], isOpen: true };
  const { starts, ends } = format;
  return { starts, ends, ...(continuedText !== null && { isOpen: endsInThinking(format, continuedText) }) };
}
