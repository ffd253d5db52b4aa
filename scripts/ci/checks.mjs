// Lint and type checks, run with the toolchain of the set-up script.

import { runStep } from '../setup/processes.mjs';
import { findToolchain } from '../setup/toolchain.mjs';

const toolchain = await findToolchain();
const pnpm = await toolchain.pnpm();
for (const task of ['lint', 'typecheck']) {
  await runStep(`Checking: ${task}`, pnpm.program, [...pnpm.args, 'run', task], pnpm.environment);
}
