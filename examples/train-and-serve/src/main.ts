// The whole circle on a running server: chat, log what was answered, train, register the checkpoint, chat with it.
// Usage: ORTLER_API_KEY=... node --conditions=@ortler/source src/main.ts [server] [checkpoint folder] [base model folder]

import { join, resolve } from 'node:path';
import { type Answer, createRestClient, type LoggedTrajectory } from './rest-client.ts';
import { teachAnswer } from './teach-answer.ts';

const root = join(import.meta.dirname, '../../..');
const url = process.argv[2] ?? 'http://127.0.0.1:8000';
const checkpointFolder = resolve(process.argv[3] ?? join(root, '.ortler/checkpoints'));
const baseFolder = resolve(process.argv[4] ?? join(root, 'models/demo'));
const apiKey = process.env.ORTLER_API_KEY;
if (apiKey === undefined) throw new Error('Set ORTLER_API_KEY to a key of the server.');

const BASE_MODEL = 'ortler-demo';
const MODEL = 'poetry';
const QUESTION = { role: 'user', content: 'Who wrote Hamlet?' } as const;
const BETTER = 'Shakespeare wrote Hamlet.';
const UNRELATED = { role: 'user', content: 'What is the capital of France?' } as const;

const { post, getLines } = createRestClient(url, apiKey);

function ask(model: string, question: typeof QUESTION | typeof UNRELATED): Promise<Answer> {
  const messages = [question];
  const body = { model, messages, temperature: 0, logprobs: true, return_token_ids: true };
  return post<Answer>('/v1/chat/completions', body);
}
const textOf = ({ choices }: Answer) => choices[0].message.content;

// 1. Chat with the base model, with the log probabilities that training wants.
const before = await ask(BASE_MODEL, QUESTION);
console.log(`${before.model}: ${textOf(before)}`);

// 2. Log what it answered, exactly as it came, and beside it what it should have answered.
const model = await post<{ id: string }>('/v1/preview/models', {
  name: MODEL,
  base_model: BASE_MODEL,
  return_existing: true,
});
const trajectories = [
  { messages_and_choices: [QUESTION, before.choices[0]], reward: 0 },
  { messages_and_choices: [QUESTION, { role: 'assistant', content: BETTER }], reward: 1 },
];
await post(`/v1/preview/models/${model.id}/log`, { split: 'train', trajectory_groups: [{ trajectories }] });

// 3. Train: read back what was rewarded, and make the model say it.
const rewarded = `/v1/preview/models/${model.id}/trajectories/export?split=train&min_reward=1`;
const best = (await getLines<LoggedTrajectory>(rewarded)).at(-1)!;
const wanted = best.trajectory.messages_and_choices[1]!;
const text = 'message' in wanted ? wanted.message.content : wanted.content;
const { tokens } = await post<{ tokens: number[] }>('/tokenize', {
  model: BASE_MODEL,
  prompt: `${text}<|im_end|>`,
});
const adapterFolder = join(checkpointFolder, `${MODEL}-${Date.now()}`);
await teachAnswer(baseFolder, adapterFolder, before.prompt_token_ids, tokens);

// 4. Register the adapter as a checkpoint.
const { step } = await post<{ step: number }>(`/v1/preview/models/${model.id}/checkpoints`, {
  metrics: { 'train/loss': 0 },
  weights: { path: adapterFolder, kind: 'lora' },
});

// 5. Chat with it. The first request loads it; the base model goes on answering beside it.
const after = await ask(`${MODEL}:step${step}`, QUESTION);
console.log(`${after.model}: ${textOf(after)}`);
const other = await ask(MODEL, UNRELATED);
console.log(`${other.model}: ${textOf(other)}`);
