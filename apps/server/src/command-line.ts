// The `ortler` command line, which cli.ts starts. Commands import their code when they run, so that `--help` and startup are fast.

import { Command } from 'commander';
import { registerBuildCommand } from './commands/build/register-build.ts';
import { registerChatCommand } from './commands/chat/register-chat.ts';
import { registerDoctorCommand } from './commands/doctor/register-doctor.ts';
import { registerFeedbackCommands } from './commands/feedback/register-feedback.ts';
import { registerInspectCommand } from './commands/inspect/register-inspect.ts';
import { registerKeyCommands } from './commands/keys/register-keys.ts';
import { registerModelCommands } from './commands/models/register-models.ts';
import { registerServeCommand } from './commands/serve/register-serve.ts';
import { processTerminal } from './commands/terminal.ts';
import { registerTrainingCommands } from './commands/training/register-training.ts';
import { UserError } from './commands/user-error.ts';
import { ConfigError } from './config/config.ts';
import { ownCommand } from './system/own-command.ts';
import { VERSION } from './system/version.ts';

const EXAMPLES = `
Examples:
  ortler serve                                     serve the demo model; prints an API key on first start
  ortler chat "What is the capital of France?"     ask the demo model without a server
  ortler chat Qwen/Qwen3-0.6B "Hello"              download a model by its name, and ask it
  ortler serve Qwen/Qwen3-0.6B                     serve it; OpenAI clients name it as you do
  ortler serve --models my-model=path/to/folder    serve a Hugging Face folder; it is built on first use
  ortler serve --models my-model=path/to/file.gguf serve a GGUF file with the values that it has
  ortler pull Qwen/Qwen3-0.6B                      download it only; ortler models lists and removes models
  ortler inspect Qwen/Qwen3-0.6B                   what it is, and what it would take, before the download
  ortler build path/to/folder --precision q4       quantise it ahead of time (4-bit, weight-only)
  ortler doctor                                    what is missing or wrong on this machine, and what to do
  ortler keys create --team acme --name trainer    create an API key with access to the data of the team acme
  ortler <command> --help                          arguments, settings and examples of a command
`;

const program = new Command('ortler')
  .description('LLM inference on ONNX Runtime: a server, a chat in the terminal, and a model builder.')
  .version(VERSION)
  .addHelpText('after', EXAMPLES);

// In the order of `--help`.
for (const register of [
  registerServeCommand,
  registerChatCommand,
  registerBuildCommand,
  registerInspectCommand,
  registerDoctorCommand,
  registerModelCommands,
  registerTrainingCommands,
  registerKeyCommands,
  registerFeedbackCommands,
])
  register(program);
leadToOwnHelp(program, '');

try {
  await program.parseAsync();
} catch (error) {
  // Mistakes of the user show their message; anything else is a bug and keeps its stack.
  if (!(error instanceof UserError || error instanceof ConfigError)) throw error;
  processTerminal.err(`${error.message}\n`);
  process.exitCode = 1;
}

/** A mistake in the arguments of a command names the help of that command, not the list of all. */
function leadToOwnHelp(command: Command, path: string): void {
  const content = command.commands.length > 0 ? 'commands' : 'arguments';
  command.showHelpAfterError(
    `Run \`${ownCommand(`${path} --help`.trimStart())}\` for ${content} and examples.`,
  );
  for (const inner of command.commands) leadToOwnHelp(inner, `${path} ${inner.name()}`.trimStart());
}
