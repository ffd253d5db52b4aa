// Checkpoints that are built: a Hugging Face folder, in floats or quantised, or a GGUF file. The rest of the builder sees this interface only.

import { basename, dirname, join } from 'node:path';
import type { FindTextFaultOptions } from '@ortler/engine/text-files';
import { GgufModel, listGgufFiles } from '@ortler/gguf';
import { CONFIG_FILE, readDecoderConfig } from './architectures/read-decoder-config.ts';
import { checkCompanions, copyCompanions, listCompanionFiles } from './copy-companions.ts';
import { findGguf } from './gguf/find-gguf.ts';
import { GgufCheckpoint } from './gguf/gguf-checkpoint.ts';
import { readingGguf } from './gguf/gguf-fault.ts';
import { readGgufConfig } from './gguf/read-config.ts';
import { readGgufCompanions, writeGgufCompanions } from './gguf/write-companions.ts';
import { Checkpoint, listWeightFiles, type WeightSource } from './hugging-face/checkpoint.ts';
import type { DecoderConfig } from './hugging-face/decoder-config.ts';
import { refuseOtherLayouts } from './hugging-face/refuse-other-layouts.ts';
import { Mxfp4Checkpoint } from './quantised-checkpoint/mxfp4-checkpoint.ts';
import { readQuantisationConfig } from './quantised-checkpoint/quantisation-config.ts';
import { QuantisedCheckpoint } from './quantised-checkpoint/quantised-checkpoint.ts';
import { refuseUndeclared } from './quantised-checkpoint/refuse-undeclared.ts';

/** A checkpoint of which nothing has been read yet. */
export interface CheckpointSource {
  /** The folder, or the file. */
  readonly path: string;
  /** Folder of the files that determine the build. */
  readonly folder: string;
  /** Their names. Throws: `source_invalid`. */
  listFiles(): Promise<readonly string[]>;
  /** Without the weights. Throws: `ModelBuildError`. */
  readConfig(): Promise<DecoderConfig>;
  /** Throws: `ModelBuildError`. @param options What the engine will read of the folder. */
  open(options?: FindTextFaultOptions): Promise<OpenCheckpoint>;
}

/** `weights.close` closes it. */
export interface OpenCheckpoint {
  readonly config: DecoderConfig;
  /** File that the configuration is from, for messages. */
  readonly configFile: string;
  readonly weights: WeightSource;
  /** Writes the configuration and tokenizer files of the model folder. Mutates: the disk. Returns their names. */
  writeCompanions(folder: string): Promise<readonly string[]>;
}

/** The checkpoint at a path. Throws: `source_invalid` for a folder with several GGUF models, `source_unreadable`. */
export async function findCheckpoint(path: string): Promise<CheckpointSource> {
  const file = await findGguf(path);
  return file === undefined ? huggingFaceSource(path) : ggufSource(file);
}

function huggingFaceSource(folder: string): CheckpointSource {
  return {
    path: folder,
    folder,
    async listFiles() {
      await refuseOtherLayouts(folder, CONFIG_FILE);
      return [...(await listCompanionFiles(folder)), ...(await listWeightFiles(folder))];
    },
    readConfig: () => readDecoderConfig(folder),
    async open(options) {
      await refuseOtherLayouts(folder, CONFIG_FILE);
      const config = await readDecoderConfig(folder);
      const quantisation = await readQuantisationConfig(folder);
      await checkCompanions(folder, options);
      return {
        config,
        configFile: join(folder, CONFIG_FILE),
        weights:
          quantisation === undefined
            ? await openFloats(folder)
            : quantisation.method === 'mxfp4'
              ? await Mxfp4Checkpoint.open(folder)
              : await QuantisedCheckpoint.open(folder, quantisation),
        async writeCompanions(target) {
          const names = await listCompanionFiles(folder);
          await copyCompanions(folder, target, names);
          return names;
        },
      };
    },
  };
}

async function openFloats(folder: string): Promise<Checkpoint> {
  const checkpoint = await Checkpoint.open(folder);
  try {
    refuseUndeclared(checkpoint, join(folder, CONFIG_FILE));
    return checkpoint;
  } catch (error) {
    await checkpoint.close();
    throw error;
  }
}

function ggufSource(file: string): CheckpointSource {
  return {
    path: file,
    folder: dirname(file),
    listFiles: () => Promise.resolve(listGgufFiles(file).map(path => basename(path))),
    async readConfig() {
      const model = await readingGguf(() => GgufModel.open(file));
      try {
        return (await readGgufConfig(model)).config;
      } finally {
        await model.close();
      }
    },
    async open() {
      const model = await readingGguf(() => GgufModel.open(file));
      try {
        const { config, configJson } = await readGgufConfig(model);
        // A tokenizer that is not supported shows before the weights are built, which may take long.
        const companions = readGgufCompanions(model, configJson);
        return {
          config,
          configFile: model.path,
          weights: new GgufCheckpoint(model, config),
          writeCompanions: target => writeGgufCompanions(target, companions),
        };
      } catch (error) {
        await model.close();
        throw error;
      }
    },
  };
}
