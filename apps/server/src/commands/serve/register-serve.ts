// `ortler serve`: arguments and help. serve.ts runs it.

import type { Command } from 'commander';
import { ALL_SETTINGS, addSettings, configFrom, type Flags } from '../command-settings.ts';
import { outliveOutput, processTerminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';
import { adviseOnOption } from './other-servers-options.ts';

const EXAMPLES = `
A flag overrides its variable, a variable overrides the default.

Examples:
  ortler serve Qwen/Qwen3-0.6B                                       a model of the Hub, under its name
  ortler serve --models small=Qwen/Qwen3-0.6B@main,unsloth/Qwen3-4B-GGUF:Q4_K_M
  ortler serve onnx-community/Qwen3-0.6B-ONNX --precision q4         one graph of a repository of ONNX graphs
  ortler serve path/to/big path/to/small.gguf                        several, each under the name of its folder or file
  ortler serve --models big=path/to/big,small=path/to/small
  ortler serve --precision q4 --kv-cache int8 --max-sequences 16     4-bit weights, int8 KV cache, batches of 16
  ORTLER_API_KEY=<your key> ortler serve --host 0.0.0.0 --port 8080
`;

/** Adds the command to the program. */
export function registerServeCommand(program: Command): void {
  addSettings(
    program
      .command('serve')
      .description('Serve models over HTTP: OpenAI-compatible REST and tRPC.')
      .argument('[models...]', 'names or paths of models, as for --models'),
    ALL_SETTINGS,
  )
    .configureOutput({ outputError: (text, write) => write(adviseOnOption(text)) })
    .addHelpText('after', EXAMPLES)
    .action(async (models: readonly string[], flags: Flags) => {
      outliveOutput();
      if (models.length > 0 && flags.models !== undefined)
        throw new UserError('Give models as arguments or with --models, not both.');
      const config = configFrom(models.length > 0 ? { ...flags, models: models.join(',') } : flags);
      const { serve } = await import('./serve.ts');
      await serve(config, processTerminal);
    });
}
