// `ortler inspect`: arguments and help. inspect.ts runs it.

import type { Command } from 'commander';
import { toPositiveInteger } from '../argument-values.ts';
import { addSettings, configFrom, type Flags, HUB_SETTINGS } from '../command-settings.ts';
import { endWithOutput, processTerminal } from '../terminal.ts';

const EXAMPLES = `
Examples:
  ortler inspect Qwen/Qwen3-0.6B
  ortler inspect unsloth/Qwen3-0.6B-GGUF:Q8_0 --context 32768
  ortler inspect path/to/model.gguf --json
  ortler inspect path/to/folder --device cpu
`;

interface InspectFlags extends Flags {
  readonly context?: number;
  readonly json?: boolean;
}

/** Adds the command to the program. */
export function registerInspectCommand(program: Command): void {
  addSettings(program.command('inspect'), ['device', 'precision', 'kvCache', ...HUB_SETTINGS])
    .description(
      'Show what a model is and what it would take: architecture, parameters, formats, memory, device, download. Nothing is built, and for a model of the Hub only configuration and headers are read.',
    )
    .argument('<model>', 'a folder, a GGUF file, or a name of the Hub')
    .option(
      '--context <tokens>',
      'context length that memory is estimated for; default: 4096, or the maximum of the model if that is shorter',
      toPositiveInteger,
    )
    .option('--json', 'write JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (model: string, flags: InspectFlags) => {
      endWithOutput();
      const { context, json = false } = flags;
      const config = configFrom(flags);
      const { inspect } = await import('./inspect.ts');
      await inspect({ model, contextLength: context, json }, config, processTerminal);
    });
}
