// Writes MODEL/llama-cpp.json: what llama.cpp's server makes of a model of ../models.json. Greedy answers to prompts.json with the
// distance of the two best candidates at each token, and the token ids of the text whose perplexity is measured.
//
//     node make-llama-cpp.ts MODEL LLAMA_SERVER     (bench/peers/README.md builds llama.cpp's server)

import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { realModel, realModelPath } from '../../../scripts/real-models/real-models.ts';

interface Completion {
  readonly tokens: readonly number[];
  readonly stop_type: 'eos' | 'limit';
  readonly completion_probabilities: readonly { readonly top_logprobs: readonly { readonly logprob: number }[] }[];
}

const PORT = 18_417;
const ANSWER_LENGTH = 48;
const TEXT = join(import.meta.dirname, '../../../apps/server/report-text.txt');

const [name, program] = process.argv.slice(2);
if (name === undefined || program === undefined) throw new Error('Give the name of a model and the path of llama-server.');
const path = realModelPath(name);
const server = spawn(
  program,
  ['-m', path, '--port', PORT, '-t', 1, '-np', 1, '-c', 2048, '--no-webui', '--jinja', '--threads-http', 8].map(String),
  { stdio: 'ignore' },
);
process.on('exit', () => server.kill());
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
const base = `http://127.0.0.1:${PORT}`;
while (!(await fetch(`${base}/health`).catch(() => undefined))?.ok) {
  if (server.exitCode !== null) throw new Error(`${program} ended with ${server.exitCode}.`);
  await new Promise(resolve => setTimeout(resolve, 100));
}

const answers = [];
const prompts: readonly string[] = JSON.parse(readFileSync(join(import.meta.dirname, 'prompts.json'), 'utf8'));
for (const content of prompts) {
  const { prompt } = await post<{ prompt: string }>('/apply-template', { messages: [{ role: 'user', content }] });
  const promptTokenIds = await tokenize(prompt);
  const answer = await post<Completion>('/completion', {
    prompt: promptTokenIds,
    n_predict: ANSWER_LENGTH,
    temperature: 0,
    samplers: ['temperature'],
    cache_prompt: false,
    return_tokens: true,
    n_probs: 2,
  });
  const gaps = answer.completion_probabilities.map(({ top_logprobs: [best, second] }) =>
    Number((best!.logprob - second!.logprob).toFixed(4)),
  );
  console.error(`${answers.length + 1} of ${prompts.length}`);
  answers.push({ content, promptTokenIds, tokenIds: answer.tokens, isEnded: answer.stop_type === 'eos', gaps });
}

const paragraphs = readFileSync(TEXT, 'utf8')
  .trim()
  .split(/\n\s*\n/);
const text: (readonly number[])[] = [];
for (const content of paragraphs) text.push(await tokenize(content));

const { build_info: version } = (await (await fetch(`${base}/props`)).json()) as { build_info: string };
const provenance = {
  script: basename(import.meta.filename),
  llamaCpp: `${version} of llama-cpp-python 0.3.36`,
  file: basename(path),
  sha256: realModel(name).sha256,
  text: basename(TEXT),
};
const lines = (rows: readonly unknown[]) => rows.map(row => `    ${JSON.stringify(row)}`).join(',\n');
writeFileSync(
  join(import.meta.dirname, name, 'llama-cpp.json'),
  `{\n  "provenance": ${JSON.stringify(provenance)},\n  "answers": [\n${lines(answers)}\n  ],\n  "text": [\n${lines(text)}\n  ]\n}\n`,
);
process.exit();

async function tokenize(content: string): Promise<readonly number[]> {
  const options = { add_special: false, parse_special: true };
  return (await post<{ tokens: readonly number[] }>('/tokenize', { content, ...options })).tokens;
}

async function post<Reply>(route: string, body: unknown): Promise<Reply> {
  const response = await fetch(`${base}${route}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${route}: ${await response.text()}`);
  return (await response.json()) as Reply;
}
