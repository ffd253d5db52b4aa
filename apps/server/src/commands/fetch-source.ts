// Fetches the model of a command, with its progress on the terminal. Callers: `chat`, `build`, `pull`.

import { type FetchModelOptions, HubError, requireModelSource } from '@ortler/hub';
import { chooseDevice } from '@ortler/onnxruntime';
import type { Config } from '../config/config.ts';
import { formatModelSource } from '../config/model-list.ts';
import { createGraphChoice } from '../models/choose-graph.ts';
import { toHubOptions } from '../models/hub-options.ts';
import { createModelSources } from '../models/model-sources.ts';
import type { BuildBars } from './build-bars.ts';
import type { Terminal } from './terminal.ts';
import { UserError } from './user-error.ts';

/** Device and precision choose among the graphs of a repository in ONNX. */
export type HubConfig = Pick<
  Config,
  'hubCacheDir' | 'hubEndpoint' | 'hubToken' | 'offline' | 'device' | 'precision'
>;

/** Source of a model on the command line. Throws: `UserError` for a bare word that is neither a path here nor a name. */
export function toGivenSource(text: string): string {
  try {
    return formatModelSource(requireModelSource(text));
  } catch (error) {
    if (error instanceof HubError) throw new UserError(error.message, { cause: error });
    throw error;
  }
}

/** Absolute path of a source of the configuration. Throws: `UserError` with the reason of the Hub. */
export async function fetchSource(
  source: string,
  config: HubConfig,
  {
    terminal,
    bars,
    chooseGraph = createGraphChoice(config, () => chooseDevice(config.device)),
  }: {
    readonly terminal: Terminal;
    readonly bars: BuildBars;
    readonly chooseGraph?: FetchModelOptions['chooseGraph'];
  },
): Promise<string> {
  const events = {
    onProgress: (progress: Parameters<BuildBars['update']>[1]) => bars.update(source, progress),
    onNotice: (message: string) => terminal.err(`  ${source}: ${message}\n`),
  };
  const sources = createModelSources(toHubOptions(config), chooseGraph);
  try {
    return await sources.resolve(source, events);
  } catch (error) {
    if (error instanceof HubError) throw new UserError(error.message, { cause: error });
    throw error;
  } finally {
    bars.end(source);
  }
}
