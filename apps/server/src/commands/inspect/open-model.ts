// Files to describe a model by: its own, or for a name of the Hub that is not in the cache a temporary folder with their headers.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fetchModel, type ListedFile, parseModelSource, readModelListing } from '@ortler/hub';
import { explainUnwritable, writeHeaders } from '@ortler/model-builder';
import type { DeviceChoice } from '@ortler/onnxruntime';
import { createGraphChoice } from '../../models/choose-graph.ts';
import { toHubOptions } from '../../models/hub-options.ts';
import type { HubConfig } from '../fetch-source.ts';
import { UserError } from '../user-error.ts';

export interface OpenedModel {
  readonly path: string;
  /** Of files without content. */
  readonly emptyFiles: ReadonlySet<string>;
  /** What the name stands for; undefined for a path. */
  readonly download: Download | undefined;
  /** A message without the path of the temporary folder. */
  explain(message: string): string;
  /** Removes the temporary folder. */
  close(): Promise<void>;
}

export interface Download {
  readonly commit: string;
  /** Empty offline, where the cache is not compared with the Hub. */
  readonly files: readonly ListedFile[];
  readonly totalBytes: number;
  readonly missingBytes: number;
}

/** Mutates: the disk, until it is closed. Throws: `HubError`, `UserError`. */
export async function openModel(
  source: string,
  config: HubConfig,
  device: DeviceChoice,
  onNotice: (message: string) => void,
): Promise<OpenedModel> {
  const parsed = parseModelSource(source);
  const none = {
    emptyFiles: new Set<string>(),
    explain: (message: string) => message,
    close: () => Promise.resolve(),
  };
  if (parsed.kind === 'path') return { ...none, path: parsed.path, download: undefined };
  const chooseGraph = createGraphChoice(config, () => Promise.resolve(device));
  const options = { ...toHubOptions(config), chooseGraph, onNotice };
  if (config.offline) {
    const { path, commit } = await fetchModel(parsed.reference, options);
    return { ...none, path, download: { commit, files: [], totalBytes: 0, missingBytes: 0 } };
  }
  const { commit, files, entry, read } = await readModelListing(parsed.reference, options);
  const totalBytes = files.reduce((sum, { size }) => sum + size, 0);
  const missingBytes = files.reduce((sum, file) => sum + file.missingBytes, 0);
  const parent = tmpdir();
  const folder = await mkdtemp(join(parent, 'ortler-inspect-')).catch(async (error: unknown) => {
    throw await toWriteFailure(error, parent);
  });
  const close = () => rm(folder, { recursive: true, force: true });
  try {
    const emptyFiles = await writeHeaders(folder, { files, read });
    const path = entry === undefined ? folder : join(folder, ...entry.split('/'));
    const explain = (message: string) => message.replaceAll(`${folder}${sep}`, '').replaceAll(folder, source);
    return { path, emptyFiles, download: { commit, files, totalBytes, missingBytes }, explain, close };
  } catch (error) {
    await close();
    throw await toWriteFailure(error, parent);
  }
}

async function toWriteFailure(error: unknown, folder: string): Promise<unknown> {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return error;
  const reason = code === 'ENOENT' ? 'it does not exist' : await explainUnwritable(folder, error);
  const message = `The folder for temporary files ${folder} cannot be written: ${reason}. Choose another with the variable TMPDIR (on Windows TEMP).`;
  return new UserError(message, { cause: error });
}
