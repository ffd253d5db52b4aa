// `ortler models list`: the models of the cache.

import { type CachedEntry, formatBytes, listCachedModels, readHubSettings } from '@ortler/hub';
import type { Config } from '../../config/config.ts';
import { toHubOptions } from '../../models/hub-options.ts';
import { ownCommand } from '../../system/own-command.ts';
import type { Terminal } from '../terminal.ts';

const KINDS: Readonly<Record<CachedEntry['kind'], string>> = {
  safetensors: 'safetensors',
  gguf: 'GGUF',
  adapter: 'LoRA adapter',
  onnx: 'ONNX',
  other: 'not usable here',
  partial: 'download not finished',
};

/** A line for each model: name, size, format. */
export async function showModels(config: Config, { out, err }: Terminal): Promise<void> {
  const { cacheDir } = await readHubSettings(toHubOptions(config));
  const entries = await listCachedModels(cacheDir);
  if (entries.length === 0) {
    err(`No models in ${cacheDir}. \`${ownCommand('pull org/model')}\` downloads one.\n`);
    return;
  }
  const rows = entries.map(({ name, bytes, kind }) => [name, formatBytes(bytes), KINDS[kind]] as const);
  const [nameWidth, sizeWidth] = [0, 1].map(column => Math.max(...rows.map(row => row[column]!.length)));
  for (const [name, size, kind] of rows)
    out(`${name.padEnd(nameWidth!)}  ${size.padStart(sizeWidth!)}  ${kind}\n`);
}
