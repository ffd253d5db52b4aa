// Main module of the workers that encode long texts. Each loads the model's tokenizer once.

import { workerData } from 'node:worker_threads';
import { serveTasks } from '@ortler/worker';
import { EngineError } from '../errors.ts';
import { Tokenizer } from './tokenizer.ts';
import { readTokenizerFiles } from './tokenizer-json.ts';

export interface EncodeTask {
  readonly text: string;
  readonly addSpecialTokens: boolean;
}

const tokenizer = new Tokenizer(await readTokenizerFiles((workerData as { modelDir: string }).modelDir));
serveTasks((task: EncodeTask) => Int32Array.from(tokenizer.encode(task.text, task)), EngineError);
