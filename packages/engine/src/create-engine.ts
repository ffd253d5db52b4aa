// Builds an engine for one model folder: reads the files of the text side, starts the token side behind the chosen link, and
// connects the two.

import { readManifest } from './core/manifest/read-manifest.ts';
import type { Engine, EngineInfo } from './engine.ts';
import type { CoreLink } from './link/core-link.ts';
import { createInProcessLink } from './link/in-process-link.ts';
import { createProcessLink } from './link/process-link.ts';
import { createWorkerLink } from './link/worker-link.ts';
import { checkOptions } from './protocol/check-options.ts';
import { type EngineOptions, toCoreOptions } from './protocol/engine-options.ts';
import { HOST_OPTIONS } from './protocol/options.ts';
import { readDefaultMaxTokens, readSamplingDefaults } from './request/sampling-defaults.ts';
import { ChatTemplates } from './text/chat-template.ts';
import { PromptEncoder } from './text/prompt-encoder.ts';
import { chooseReasoningFormat } from './text/reasoning/reasoning-format.ts';
import { readTextFiles } from './text/text-files.ts';
import { ToolDialects } from './text/tools/tool-dialects.ts';
import { EngineLinkListener } from './text-side/engine-link-listener.ts';
import { LinkedEngine } from './text-side/linked-engine.ts';

/**
 * Loads a model and gives the engine that serves it. Resolves when the model is ready. A thread or process of its own
 * keeps the program running until `close`.
 *
 * Throws: `model_invalid` for an unusable folder or option, `engine_failed` when the model cannot be run.
 *
 * @example
 * const engine = await createEngine({ modelDir: './model' });
 * const messages = [{ role: 'user', content: 'Hello!' }];
 * for await (const event of engine.generate({ prompt: { messages } })) {
 *   if (event.kind === 'token-delta') process.stdout.write(event.text);
 * }
 * await engine.close();
 */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  checkOptions(options);
  return startEngine(options.modelDir, await createLink(options), options);
}

/** The engine over a given link. Tests use it with scripted token sides. Throws: as `createEngine`. */
export async function startEngine(
  modelDir: string,
  link: CoreLink,
  options: Pick<
    EngineOptions,
    | 'modelDefaults'
    | 'constraints'
    | 'onWarmUp'
    | 'onFailed'
    | 'onCacheEvents'
    | 'reasoningParser'
    | 'toolDialect'
    | 'chatTemplate'
  > = {},
): Promise<LinkedEngine> {
  const {
    modelDefaults = HOST_OPTIONS.modelDefaults.cpuDefault,
    reasoningParser = HOST_OPTIONS.reasoningParser.cpuDefault,
    toolDialect = HOST_OPTIONS.toolDialect.cpuDefault,
    constraints,
    chatTemplate,
  } = options;
  // Text files are validated before a thread or process is started.
  const [files, manifest] = await Promise.all([readTextFiles(modelDir), readManifest(modelDir)]);
  const { tokenizer, tokenSpan } = files;
  const templates = new ChatTemplates(files.config, files.templates, chatTemplate);
  const templateNote = templates.findFaults();
  const defaults = modelDefaults ? files.generationConfig : {};
  const samplingDefaults = readSamplingDefaults(defaults);
  const defaultMaxTokens = readDefaultMaxTokens(defaults);
  const listener = new EngineLinkListener(options);
  const facts = await link.start(listener);
  const info: EngineInfo = {
    ...facts,
    modelType: manifest.modelType,
    precision: manifest.precision,
    kvType: manifest.kvType,
    parameterCount: manifest.parameterCount,
    eosTokenIds: tokenizer.eosTokenIds,
    chatTemplate: templates.source,
    ...(templateNote !== undefined && { templateNote }),
    reasoningFormat: chooseReasoningFormat(reasoningParser, templates.source),
    samplingDefaults,
  };
  const prompts = new PromptEncoder({
    modelDir,
    tokenizer,
    templates,
    longestTokenSpan: tokenSpan,
    contextLength: facts.contextLength,
  });
  const dialects = new ToolDialects({
    option: toolDialect,
    templates,
    responseTemplate: files.config.response_template,
  });
  return new LinkedEngine(
    { link, info, tokenizer, prompts, templates, dialects, defaultMaxTokens, constraints },
    listener,
  );
}

async function createLink(options: EngineOptions): Promise<CoreLink> {
  const core = toCoreOptions(options);
  const { link = HOST_OPTIONS.link.cpuDefault, stepTimeoutMs = HOST_OPTIONS.stepTimeoutMs.cpuDefault } =
    options;
  switch (link) {
    case 'process':
      return createProcessLink(core, {
        stepTimeoutMs,
        onOutput: options.onModelOutput,
        onSpawn: options.onModelProcess,
      });
    case 'in-process': {
      // Imported here only, because no other link loads the native parts of the token side into this thread.
      const { loadCore } = await import('./core/load-core.ts');
      return createInProcessLink(core, loadCore);
    }
    default:
      return createWorkerLink(core);
  }
}
