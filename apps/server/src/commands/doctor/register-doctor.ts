// `ortler doctor`: arguments and help. doctor.ts runs it.

import type { Command } from 'commander';
import { ALL_SETTINGS, addSettings, configFrom, type Flags } from '../command-settings.ts';
import { endWithOutput, processTerminal } from '../terminal.ts';

/** Adds the command to the program. */
export function registerDoctorCommand(program: Command): void {
  addSettings(program.command('doctor'), ALL_SETTINGS)
    .description(
      'Check what a server needs: versions, memory, ONNX Runtime, device, disk, databases, models, address; and say what to do. Nothing is created or changed.',
    )
    .option('--json', 'write JSON')
    .action(async (flags: Flags) => {
      endWithOutput();
      const config = configFrom(flags);
      const { doctor } = await import('./doctor.ts');
      if (!(await doctor(config, { isJson: flags.json === true }, processTerminal))) process.exitCode = 1;
    });
}
