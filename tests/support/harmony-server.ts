// A server whose model writes harmony, the format of gpt-oss: its published template, its special tokens and its ends, over a script
// that thinks, calls the first function, and answers when there is a result.

import { readFileSync } from 'node:fs';
import { tinyTokenizerFiles } from '@ortler/model-builder/testing';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';

export const HARMONY_MODEL = 'gpt-oss';

const TEMPLATE = readFileSync(new URL('./gpt-oss-chat-template.jinja', import.meta.url), 'utf8');

const SPECIAL_TOKENS = [
  '<|start|>',
  '<|message|>',
  '<|channel|>',
  '<|constrain|>',
  '<|end|>',
  '<|return|>',
  '<|call|>',
];
/** Those of generation_config.json of gpt-oss. */
const ENDS = ['<|return|>', '<|endoftext|>', '<|call|>'];

const TURN = '<|start|>assistant';
const NEXT = `<|end|>${TURN}`;

const CALL_SCRIPT = `<|channel|>analysis<|message|>Look it up.${NEXT}<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Rome"}<|call|>`;
const ANSWER_SCRIPT = `<|channel|>analysis<|message|>It says sunny.${NEXT}<|channel|>final<|message|>It is sunny in Rome.<|return|>`;

interface TokenizerFile {
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
  readonly model: { readonly vocab: Readonly<Record<string, number>>; readonly merges: readonly unknown[] };
}

/** The small tokenizer of tests with the special tokens of gpt-oss. */
function harmonyTokenizer() {
  const { tokenizer, tokenizerConfig } = tinyTokenizerFiles() as {
    readonly tokenizer: TokenizerFile;
    readonly tokenizerConfig: object;
  };
  const first = Math.max(...tokenizer.added_tokens.map(({ id }) => id)) + 1;
  const [like] = tokenizer.added_tokens;
  const added = SPECIAL_TOKENS.map((content, i) => ({ ...like, id: first + i, content }));
  const addedTokens = [...tokenizer.added_tokens, ...added];
  return {
    tokenizer: { ...tokenizer, added_tokens: addedTokens },
    tokenizerConfig: {
      ...tokenizerConfig,
      eos_token: '<|return|>',
      chat_template: TEMPLATE,
      added_tokens_decoder: {},
    },
    idOf: new Map([
      ...Object.entries(tokenizer.model.vocab),
      ...addedTokens.map(({ content, id }) => [content, id] as const),
    ]),
  };
}

export async function startHarmonyServer(): Promise<ScriptedServer> {
  const { tokenizer, tokenizerConfig, idOf } = harmonyTokenizer();
  const textOf = new Map(
    [...idOf].map(([text, id]) => [id, text.replaceAll('Ġ', ' ').replaceAll('Ċ', '\n')]),
  );
  const files = {
    tokenizer,
    tokenizer_config: tokenizerConfig,
    generation_config: { eos_token_id: ENDS.map(end => idOf.get(end)!) },
  };
  const nextToken = (history: readonly number[]): number => {
    const text = history.map(id => textOf.get(id) ?? '').join('');
    const { script, said } = scriptBehind(text);
    const rest = script.slice(said);
    const special = SPECIAL_TOKENS.find(token => rest.startsWith(token));
    const token = special ?? (rest[0] === ' ' ? 'Ġ' : rest[0]);
    return idOf.get(token ?? '<|endoftext|>')!;
  };
  return startScriptedServer({ id: HARMONY_MODEL, files, vocabSize: idOf.size, nextToken });
}

/** The script that the conversation asks for, and how much of it was said. */
function scriptBehind(text: string): { readonly script: string; readonly said: number } {
  // Past turns of the assistant are not the beginning of the script.
  const script =
    text.includes('<|start|>functions.') || !text.includes('namespace functions')
      ? ANSWER_SCRIPT
      : CALL_SCRIPT;
  for (let at = text.indexOf(TURN); at >= 0; at = text.indexOf(TURN, at + 1)) {
    const rest = text.slice(at + TURN.length);
    if (script.startsWith(rest)) return { script, said: rest.length };
  }
  return { script, said: 0 };
}
