// The tokens with a role: the ids that the file names, and all that end an answer.

import type { TokenizerKind } from './bpe-model.ts';
import type { MetadataFields } from './metadata-fields.ts';
import type { Vocabulary } from './vocabulary.ts';

export interface SpecialTokens {
  readonly bos: number | undefined;
  readonly eos: number | undefined;
  readonly unknown: number | undefined;
  readonly padding: number | undefined;
  /** Ids that end an answer: end of sequence, of turn, of message, then others in the order of their ids. */
  readonly endOfGeneration: readonly number[];
}

/** Tokens that end an answer in every vocabulary that has them, whatever type the file gives them. */
const ENDS = [
  '<|im_end|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|end|>',
  '<|endoftext|>',
  '<|end_of_text|>',
  '<end_of_turn>',
  '<end_of_utterance>',
  '<turn|>',
  '<|tool_response>',
  '<|return|>',
  '<|call|>',
  '<|calls|>',
  '<|flush|>',
  '<｜end▁of▁sentence｜>',
  '[e~[',
];

/** Tokens that are ordinary text in some vocabularies (`</s>` is an HTML tag), so only control tokens count. */
const ENDS_IF_CONTROL = ['</s>', '<eos>', '<EOT>', '_<EOT>', '[EOT]', '[EOS]'];

/** The format of these models ends a message with `<|end|>` and the answer with another token. */
const MESSAGE_END = '<|end|>';
const ANSWER_ENDS = [
  ['<|return|>', '<|call|>'],
  ['<|calls|>', '<|flush|>'],
] as const;

/** For files without ids, which converters wrote until 2023. Source: the names that sentencepiece gives by default. */
const SENTENCEPIECE_NAMES = { bos: '<s>', eos: '</s>', unknown: '<unk>' } as const;

/** Throws: `corrupt` for ids outside the vocabulary. */
export function readSpecialTokens(
  kind: TokenizerKind,
  fields: MetadataFields,
  vocabulary: Vocabulary,
): SpecialTokens {
  const { tokens } = vocabulary;
  const read = (name: string) => {
    const key = `tokenizer.ggml.${name}_token_id`;
    const id = fields.tokenId(key, tokens.length);
    if (id !== undefined && tokens[id] === '') throw fields.corrupt(key, `is ${id}, an id without a token`);
    return id;
  };
  const readOrFind = (role: keyof typeof SENTENCEPIECE_NAMES) =>
    read(role) ?? (kind === 'llama' ? vocabulary.idOf.get(SENTENCEPIECE_NAMES[role]) : undefined);
  const eos = readOrFind('eos');
  const named = [eos, read('eot'), read('eom')].filter(id => id !== undefined);
  return {
    bos: readOrFind('bos'),
    eos,
    unknown: readOrFind('unknown'),
    padding: read('padding'),
    endOfGeneration: [...new Set([...named, ...endsByText(vocabulary)])],
  };
}

function endsByText({ idOf, typeOf }: Vocabulary): readonly number[] {
  const isMessageEnd = ANSWER_ENDS.some(pair => pair.every(text => idOf.has(text)));
  const certain = ENDS.filter(text => !(isMessageEnd && text === MESSAGE_END)).map(text => idOf.get(text));
  const conditional = ENDS_IF_CONTROL.map(text => idOf.get(text)).filter(
    id => id !== undefined && typeOf(id) === 'control',
  );
  return [...certain, ...conditional].filter(id => id !== undefined).sort((a, b) => a - b);
}
