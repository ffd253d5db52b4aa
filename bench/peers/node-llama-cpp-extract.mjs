// Structured answers of node-llama-cpp at temperature 0, one after the other: its own grammars, from the same JSON Schemas.

import { getLlama, LlamaGrammarEvaluationState } from 'node-llama-cpp';

/**
 * Answers each request and calls `onAnswer` with its text and whether it ended before the limit.
 *
 * @param {object} options
 * @param {string} options.modelPath
 * @param {number} options.threadCount
 * @param {number} options.contextLength
 * @param {number} options.maxTokens
 * @param {readonly { readonly tokenIds: readonly number[], readonly schema: object }[]} options.requests
 * @param {(answer: { readonly text: string, readonly ended: boolean, readonly tokenIds: readonly number[] }) => void} options.onAnswer
 */
export async function extract({ modelPath, threadCount, contextLength, maxTokens, requests, onAnswer }) {
  const llama = await getLlama({ gpu: false, build: 'never', progressLogs: false, maxThreads: threadCount });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({ contextSize: contextLength, threads: threadCount });
  const sequence = context.getSequence();
  for (const { tokenIds, schema } of requests) {
    const grammar = await llama.createGrammarForJsonSchema(schema);
    const grammarEvaluationState = new LlamaGrammarEvaluationState({ model, grammar });
    await sequence.clearHistory();
    const answer = [];
    let ended = false;
    for await (const token of sequence.evaluate(tokenIds, {
      temperature: 0,
      yieldEogToken: true,
      grammarEvaluationState,
    })) {
      if (model.isEogToken(token)) {
        ended = true;
        break;
      }
      answer.push(token);
      if (answer.length === maxTokens) break;
    }
    onAnswer({ text: model.detokenize(answer), ended, tokenIds: answer });
  }
  await llama.dispose();
}
