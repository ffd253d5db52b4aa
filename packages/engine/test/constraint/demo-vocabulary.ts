// The demo model's real vocabulary for constraints: 2,560 byte-level tokens.

import { fileURLToPath } from 'node:url';
import { LlguidanceEngine } from '../../src/core/constraint/llguidance/llguidance-engine.ts';
import { toTokenVocabulary } from '../../src/text/to-token-vocabulary.ts';
import { Tokenizer } from '../../src/text/tokenizer.ts';
import { readTokenizerFiles } from '../../src/text/tokenizer-json.ts';

const MODEL_DIR = fileURLToPath(new URL('../../../../models/demo', import.meta.url));

export const demoTokenizer = new Tokenizer(await readTokenizerFiles(MODEL_DIR));
export const demoVocabulary = toTokenVocabulary(demoTokenizer, demoTokenizer.vocabSize);
export const demoEngine = new LlguidanceEngine(demoVocabulary);
