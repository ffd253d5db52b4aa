// Reasoning formats: the published marks that separate a model's reasoning from its answer, and the choice of the format
// of a model, by name or by its chat template.

import {
  REASONING_FORMAT_NAMES,
  type ReasoningFormatName,
  type ReasoningParser,
} from '../../request/reasoning-parser.ts';

/** The reasoning is between a start and an end mark, before the answer. */
export interface TagFormat {
  readonly kind: 'tags';
  readonly starts: readonly string[];
  readonly ends: readonly string[];
}

/** The output is a sequence of messages, each with a channel in its header. */
export interface ChannelFormat {
  readonly kind: 'channels';
}

export type ReasoningFormat = TagFormat | ChannelFormat;

interface NamedFormat {
  readonly format: ReasoningFormat;
  /** A text by which the chat templates of such models are recognised. */
  readonly templateMark: string;
  /** Models that use it. */
  readonly usedBy: string;
  /** Special tokens that the format is written with, in the vocabularies where they are special. */
  readonly specialTokens: readonly string[];
}

const tags = (starts: readonly string[], ends: readonly string[]): TagFormat => ({
  kind: 'tags',
  starts,
  ends,
});

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
} as const satisfies Record<ReasoningFormatName, NamedFormat>;

/** The format of a model; null when all of its output is answer. */
export function chooseReasoningFormat(
  parser: ReasoningParser,
  chatTemplate: string | null,
): ReasoningFormatName | null {
  if (parser === 'none') return null;
  if (parser !== 'auto') return parser;
  const found = REASONING_FORMAT_NAMES.find(name =>
    chatTemplate?.includes(REASONING_FORMATS[name].templateMark),
  );
  return found ?? null;
}

/** Whether a text ends inside the reasoning, so that the text after it is reasoning. */
function endsInReasoning(format: TagFormat, text: string): boolean {
  const last = (marks: readonly string[]) => Math.max(...marks.map(mark => text.lastIndexOf(mark)));
  return last(format.starts) > last(format.ends);
}

/**
 * The state of the reasoning at the end of a prompt. `open`: the first token is reasoning. `closed`: the answer begins
 * with the first token. `possible`: the model may begin its reasoning with the first token.
 */
export type ReasoningStart = 'open' | 'closed' | 'possible';

/** The end of a prompt, which decides whether the output begins with reasoning. */
export interface PromptEnd {
  /** Text of the prompt's last tokens. */
  readonly tail: string;
  /** Text of the last message, where the answer continues it; null otherwise. */
  readonly continuedText: string | null;
}

/** Decides for the splitter and for constraints whether the prompt has opened the reasoning. */
export function findReasoningStart(
  format: ReasoningFormat,
  { tail, continuedText }: PromptEnd,
): ReasoningStart {
  if (format.kind === 'channels') return 'possible';
  if (continuedText !== null) return endsInReasoning(format, continuedText) ? 'open' : 'closed';
  const end = tail.trimEnd();
  if (format.starts.some(start => end.endsWith(start))) return 'open';
  return format.ends.some(mark => end.endsWith(mark)) ? 'closed' : 'possible';
}
