// The engine without a server: takes a Hugging Face folder, builds it once, streams an answer.
// Usage: node --conditions=@ortler/source src/main.ts [question] [model folder]

import { join } from 'node:path';
import { createEngine } from '@ortler/engine';
import { ensureModel } from '@ortler/model-builder';

const root = join(import.meta.dirname, '../../..');
const question = process.argv[2] ?? 'What is the capital of France?';
const sourceDir = process.argv[3] ?? join(root, 'models/demo');

const modelDir = await ensureModel({ sourceDir, cacheDir: join(root, '.cache/models'), precision: 'q8' });
const engine = await createEngine({ modelDir });

// Ctrl-C ends the answer; the engine frees its place within one step.
const controller = new AbortController();
process.once('SIGINT', () => controller.abort());

const request = {
  prompt: { messages: [{ role: 'user', content: question }] },
  sampling: { temperature: 0 },
  stop: { maxTokens: 100 },
};

try {
  for await (const event of engine.generate(request, { signal: controller.signal })) {
    if (event.kind === 'token-delta') process.stdout.write(event.text);
    if (event.kind === 'request-finish') {
      process.stdout.write('\n');
      console.error(
        `${event.usage.promptTokenCount} prompt and ${event.usage.completionTokenCount} answer tokens`,
      );
    }
  }
} finally {
  await engine.close();
}
