// Chat prompts with the files made from GGUF metadata, rendered and encoded as the engine does it.

import { afterEach, expect, it } from 'vitest';
import { ChatTemplates } from '../../engine/src/text/chat-template.ts';
import { PromptEncoder } from '../../engine/src/text/prompt-encoder.ts';
import { readGgufTokenizer } from '../src/tokenizer/read-tokenizer.ts';
import { loadTokenizer, toMetadata } from './engine-tokenizer.ts';

const TOKENS = ['<unk>', '<s>', '</s>', '\u2581', 'h', 'i', '\u2581h'];
const METADATA = {
  'tokenizer.ggml.model': 'llama',
  'tokenizer.ggml.tokens': TOKENS,
  'tokenizer.ggml.token_type': [2, 3, 3, 1, 1, 1, 1],
  'tokenizer.ggml.scores': [0, 0, 0, -1, -2, -3, -4],
  'tokenizer.ggml.add_bos_token': true,
};
let encoder: PromptEncoder | undefined;

afterEach(() => encoder?.close());

function encoderOf(template: string): PromptEncoder {
  const made = readGgufTokenizer(toMetadata({ ...METADATA, 'tokenizer.chat_template': template }), 'a.gguf');
  encoder = new PromptEncoder({
    modelDir: '',
    tokenizer: loadTokenizer(made),
    templates: new ChatTemplates({ ...made.config }, new Map([['default', template]])),
    longestTokenSpan: 8,
    contextLength: 64,
  });
  return encoder;
}

const messages = [{ role: 'user', content: 'hi' }] as const;

it('a chat prompt begins with one beginning-of-sequence token when the template writes it', async () => {
  const template = '{{ bos_token }}{{ messages[0].content }}{{ eos_token }}';
  expect([...(await encoderOf(template).encodePrompt({ messages }))]).toEqual([1, 6, 5, 2]);
});

it('a plain text begins with the beginning-of-sequence token that the file asks for', async () => {
  expect([...(await encoderOf('').encodePrompt('hi'))]).toEqual([1, 6, 5]);
});
