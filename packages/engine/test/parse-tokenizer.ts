import { parseTokenizerJson, type TokenizerJson } from '../src/text/tokenizer-json.ts';

/** A tokenizer.json with this content. */
export function parseTokenizer(json: object): TokenizerJson {
  return parseTokenizerJson(Buffer.from(JSON.stringify(json)));
}
