// `ortler pull` and the `ortler models` commands: arguments and help. The files beside this one run them.

import type { Command } from 'commander';
import type { HousekeepingSettings } from '../../models/housekeeping.ts';
import { addSettings, configFrom, type Flags, HUB_SETTINGS } from '../command-settings.ts';
import { endWithOutput, processTerminal } from '../terminal.ts';

const PRUNE_SETTINGS: readonly (keyof HousekeepingSettings)[] = [
  'dataDir',
  'buildMaxAgeDays',
  'buildMaxBytes',
  'lowDiskBytes',
];

const PULL_EXAMPLES = `
Names are org/model, org/model@revision, and for GGUF repositories org/model:QUANT (default: Q4_K_M, then Q8_0).
From a repository of ONNX graphs, the one for --precision and --device is downloaded.
A download that was stopped continues where it was. Files are checked by their hashes, and shared with Python and llama.cpp.

Examples:
  ortler pull Qwen/Qwen3-0.6B
  ortler pull unsloth/Qwen3-0.6B-GGUF:Q8_0
  ortler pull onnx-community/Qwen3-0.6B-ONNX --precision q4         the graph in 4 bits
  HF_TOKEN=<token> ortler pull meta-llama/Llama-3.2-1B-Instruct     a gated model
`;
const MODELS_EXAMPLES = `
Examples:
  ortler models list
  ortler models remove Qwen/Qwen3-0.6B
  ortler models remove unsloth/Qwen3-0.6B-GGUF:Q8_0 --yes
  ortler models prune --dry-run                        built models of the data folder that would be removed
  ortler models prune --build-max-age-days 7 --build-max-size 50gb
`;

/** Adds the commands to the program. */
export function registerModelCommands(program: Command): void {
  addSettings(
    program
      .command('pull')
      .description('Download a model by its name, and write its path to standard output.')
      .argument('<name>', 'name of the model, such as Qwen/Qwen3-0.6B'),
    ['device', 'precision', ...HUB_SETTINGS],
  )
    .addHelpText('after', PULL_EXAMPLES)
    .action(async (name: string, flags: Flags) => {
      endWithOutput();
      const { pull } = await import('./pull.ts');
      await pull(name, configFrom(flags), processTerminal);
    });

  const models = program
    .command('models')
    .description('List and remove downloaded models, and prune built ones.')
    .addHelpText('after', MODELS_EXAMPLES);

  addSettings(
    models.command('list').description('List the models of the cache with their sizes.'),
    HUB_SETTINGS,
  ).action(async (flags: Flags) => {
    endWithOutput();
    const { showModels } = await import('./show-models.ts');
    await showModels(configFrom(flags), processTerminal);
  });

  addSettings(
    models
      .command('remove')
      .description('Remove a model from the cache: all of it, one revision, or one quantisation.')
      .argument('<name>', 'name of the model, as `ortler models list` shows it')
      .option('--yes', 'do not ask'),
    HUB_SETTINGS,
  ).action(async (name: string, flags: Flags) => {
    endWithOutput();
    const { removeModel } = await import('./remove-model.ts');
    await removeModel(name, { isConfirmed: flags.yes === true }, configFrom(flags), processTerminal);
  });

  addSettings(
    models
      .command('prune')
      .description(
        'Remove built models from the data folder by age and size; they are built again when needed.',
      )
      .option('--dry-run', 'only say what would be removed'),
    [...PRUNE_SETTINGS, ...HUB_SETTINGS],
  ).action(async (flags: Flags) => {
    endWithOutput();
    const { pruneModels } = await import('./prune-models.ts');
    await pruneModels(configFrom(flags), { isDryRun: flags.dryRun === true }, processTerminal);
  });
}
