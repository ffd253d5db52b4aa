// The real HTTP server over a model that follows a script. Tokenizer, template, grammar, parser and wire are those of every model.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeServices, TEST_API_KEY } from '@ortler/api/testing';
import { MANIFEST_FILE } from '@ortler/engine/graph-contract';
import {
  createInProcessLink,
  loadScriptedCore,
  SCRIPTED_CORE_OPTIONS,
  SCRIPTED_MANIFEST,
  type ScriptedCoreSettings,
  startEngine,
} from '@ortler/engine/testing';
import { createApp, createMetrics } from '@ortler/server';

export interface ScriptedServedModel {
  readonly id: string;
  /** Contents of the JSON files of its folder, by their names without `.json`. */
  readonly files: Readonly<Record<'tokenizer' | 'tokenizer_config' | 'generation_config', unknown>>;
  /** Default: that of the manifest. */
  readonly vocabSize?: number;
  /** Default: it repeats its prompt. */
  readonly nextToken?: NonNullable<ScriptedCoreSettings['nextToken']>;
}

export interface ScriptedServerOptions {
  /** Default: true. */
  readonly toolCalling?: boolean;
  /** Default: a free one. */
  readonly port?: number;
}

export interface ScriptedServer {
  readonly url: string;
  readonly apiKey: string;
  close(): Promise<void>;
}

const CONTEXT_LENGTH = 4_096;

export async function startScriptedServer(
  { id, files, vocabSize = SCRIPTED_MANIFEST.vocabSize, nextToken }: ScriptedServedModel,
  { toolCalling = true, port = 0 }: ScriptedServerOptions = {},
): Promise<ScriptedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'ortler-scripted-'));
  const manifest = { ...SCRIPTED_MANIFEST, vocabSize, contextLength: CONTEXT_LENGTH };
  for (const [name, content] of Object.entries(files))
    await writeFile(join(folder, `${name}.json`), JSON.stringify(content));
  await writeFile(join(folder, MANIFEST_FILE), JSON.stringify(manifest));
  const core = { ...SCRIPTED_CORE_OPTIONS, contextLength: CONTEXT_LENGTH };
  const loadCore = loadScriptedCore({ vocabSize, ...(nextToken === undefined ? {} : { nextToken }) });
  const engine = await startEngine(folder, createInProcessLink(core, loadCore));
  const services = { ...createFakeServices({ [id]: { kind: 'ready', engine } }), toolCalling };
  const app = await createApp({
    services,
    metrics: createMetrics(services.models),
    bodyLimitBytes: 1_000_000,
    streamedBodyLimitBytes: 1_000_000,
    corsOrigins: [],
    stopping: new AbortController().signal,
    stalledReaderMs: 0,
  });
  await app.listen({ host: '127.0.0.1', port });
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    apiKey: TEST_API_KEY,
    async close() {
      await app.close();
      await engine.close();
      await rm(folder, { recursive: true });
    },
  };
}
