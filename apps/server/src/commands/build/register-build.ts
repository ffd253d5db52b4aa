// `ortler build`: arguments and help. build.ts runs it.

import { PRECISIONS } from '@ortler/engine/graph-contract';
import { type Command, Option } from 'commander';
import type { Config } from '../../config/config.ts';
import { SETTINGS } from '../../config/settings.ts';
import { toPositiveInteger } from '../argument-values.ts';
import { addSettings, configFrom, type Flags, HUB_SETTINGS } from '../command-settings.ts';
import { endWithOutput, processTerminal } from '../terminal.ts';

const EXAMPLES = `
Examples:
  ortler build path/to/SmolLM2-135M-Instruct --precision q4
  ortler build HuggingFaceTB/SmolLM2-135M-Instruct --precision q4
  ortler build path/to/SmolLM2-135M-Instruct --precision q4 --report
  ortler build path/to/SmolLM2-135M-Instruct-Q4_K_M.gguf --report
  ortler build path/to/SmolLM2-135M-Instruct --adapter path/to/lora --output my-model
  ortler serve --models my-model=my-model
`;

interface BuildFlags extends Flags {
  readonly adapter?: string;
  readonly output?: string;
  readonly precision: Config['precision'];
  readonly kvCache: Config['kvCache'];
  readonly contextLength?: number;
  readonly device: 'cpu' | 'gpu';
  readonly report?: boolean;
  readonly reportText?: string;
}

/** Adds the command to the program. */
export function registerBuildCommand(program: Command): void {
  addSettings(program.command('build'), HUB_SETTINGS)
    .description(
      'Build a Hugging Face folder (config.json, tokenizer.json, *.safetensors) or a GGUF file into an ONNX model folder, quantised if asked.',
    )
    .argument('<model>', 'a Hugging Face folder, a GGUF file, or a name of the Hub')
    .option('--adapter <folder or name>', 'a PEFT LoRA adapter to merge into the weights')
    .option('--output <folder>', 'the folder to create; default: ./<name>-<precision>')
    .addOption(
      new Option('--precision <name>', SETTINGS.precision.description)
        .choices(['auto', ...PRECISIONS])
        .default('auto'),
    )
    .addOption(
      new Option('--kv-cache <name>', SETTINGS.kvCache.description)
        .choices(['auto', 'f32', 'f16', 'int8'])
        .default('auto'),
    )
    .option(
      '--context-length <tokens>',
      'longest context that the build is for, which decides the factors of LongRoPE (Phi 3 and 4 mini); default: that of the model',
      toPositiveInteger,
    )
    .addOption(
      new Option('--device <name>', 'device that the model will run on; CPU and GPU need different graphs')
        .choices(['cpu', 'gpu'])
        .default('cpu'),
    )
    .option(
      '--report',
      'after the build, show what it lost: the error of each weight matrix, the size, and the perplexity of the model on a text',
    )
    .option(
      '--report-text <file>',
      'text for the perplexity, paragraphs with blank lines between them; default: an English text of 2,200 words',
    )
    .addHelpText('after', EXAMPLES)
    .action(async (model: string, flags: BuildFlags) => {
      endWithOutput();
      const { build } = await import('./build.ts');
      const { adapter, output, precision, kvCache, contextLength, device, reportText } = flags;
      const report = flags.report || reportText !== undefined ? { textFile: reportText } : undefined;
      const { offline, hubCache, hubEndpoint, hubToken } = flags;
      const hub = configFrom({ offline, hubCache, hubEndpoint, hubToken });
      const options = { adapter, output, precision, kvCache, contextLength, device, report, hub };
      await build({ model, ...options }, processTerminal);
    });
}
