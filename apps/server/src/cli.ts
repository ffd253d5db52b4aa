#!/usr/bin/env node
// The command line. Commands load their code when they run, so `--help` and a start stay quick.

import { Command, InvalidArgumentError, Option } from 'commander';
import { registerFeedbackCommands } from './commands/feedback/register-feedback.ts';
import { registerKeyCommands } from './commands/keys/register-keys.ts';
import { onLostReader, processTerminal } from './commands/terminal.ts';
import { registerTrainingCommands } from './commands/training/register-training.ts';
import { UserError } from './commands/user-error.ts';
import { type Config, ConfigError, readConfig } from './config/config.ts';
import { shownDefault } from './config/describe-settings.ts';
import type { Setting } from './config/settings/setting.ts';
import { SETTINGS } from './config/settings.ts';
import { VERSION } from './system/version.ts';

type SettingName = keyof typeof SETTINGS;

const ALL_SETTINGS = Object.keys(SETTINGS) as SettingName[];
const CHAT_SETTINGS: readonly SettingName[] = [
  'models',
  'dataDir',
  'device',
  'precision',
  'kvCache',
  'threads',
  'contextLength',
];

const EXAMPLES = `
Examples:
  ortler serve                                        serves a small demo model in a clone, and prints a key once
  ortler chat "What is the capital of France?"        asks it without a server
  ortler serve --models my-model=path/to/folder       serves a Hugging Face folder; built on first use
  ortler keys create --team acme --name trainer       a key that reaches what the team acme has
  ortler <command> --help                             says what a command takes
`;
const SERVE_EXAMPLES = `
A flag wins over its variable, a variable over the default.

Examples:
  ortler serve --models big=path/to/big,small=path/to/small
  ORTLER_API_KEY=<a key of yours> ortler serve --host 0.0.0.0 --port 8080
`;
const CHAT_EXAMPLES = `
Examples:
  ortler chat "What is the capital of France?"
  ortler chat --model path/to/SmolLM2-135M-Instruct --temperature 0
  ORTLER_API_KEY=<key> ortler chat --url http://127.0.0.1:8000 "What is the capital of France?"
`;

const program = new Command('ortler')
  .description('LLM inference on ONNX Runtime: a server, a chat in the terminal, and a model builder.')
  .version(VERSION)
  .addHelpText('after', EXAMPLES)
  .showHelpAfterError('Run `ortler --help` for what is allowed.');

addSettings(
  program.command('serve').description('Serve models over HTTP (OpenAI wire format and tRPC).'),
  ALL_SETTINGS,
)
  .addHelpText('after', SERVE_EXAMPLES)
  .action(async (flags: Flags) => {
    // A server goes on without a reader of its messages.
    onLostReader(() => undefined);
    const config = configFrom(flags);
    const { serve } = await import('./commands/serve.ts');
    await serve(config, processTerminal);
  });

addSettings(
  program
    .command('chat')
    .description(
      'Ask one question, or talk when none is given. Runs the model here unless --url names a server.',
    )
    .argument('[question]', 'the question')
    .option('--model <folder or id>', 'model to ask; default: the first configured one')
    .option('--url <address>', 'a running server to ask instead; needs a key')
    .option(
      '--api-key <key>',
      `key for the server of --url. Prefer the variable: flags show in process lists. [${SETTINGS.apiKey.variable}]`,
    )
    .option('--system <text>', 'system message')
    .option(
      '--temperature <number>',
      '0 always gives the same answer; default: what the model recommends',
      toNumber,
    )
    .option('--max-tokens <number>', 'longest answer', toNumber),
  CHAT_SETTINGS,
)
  .addHelpText('after', CHAT_EXAMPLES)
  .action(async (question: string | undefined, flags: Flags & ChatFlags) => {
    const { model, url, system, temperature, maxTokens } = flags;
    onLostReader(() => process.exit());
    const config = configFrom(flags);
    const { chat } = await import('./commands/chat.ts');
    await chat({ question, model, url, system, temperature, maxTokens }, config, processTerminal);
  });

program
  .command('build')
  .description('Turn a Hugging Face folder (config.json, tokenizer.json, *.safetensors) into a model folder.')
  .argument('<folder>', 'the folder to read')
  .option('--adapter <folder>', 'a PEFT LoRA adapter to merge into the weights')
  .option('--output <folder>', 'the folder to make; default: <name>-<precision> here')
  .addOption(
    new Option('--precision <name>', SETTINGS.precision.description)
      .choices(['auto', 'f32', 'f16', 'q8', 'q4'])
      .default('auto'),
  )
  .addOption(
    new Option('--kv-cache <name>', SETTINGS.kvCache.description)
      .choices(['auto', 'f32', 'f16', 'int8'])
      .default('auto'),
  )
  .addOption(
    new Option('--device <name>', 'where the model is to run: graphs for a GPU are other ones')
      .choices(['cpu', 'gpu'])
      .default('cpu'),
  )
  .action(async (folder: string, flags: BuildFlags) => {
    onLostReader(() => process.exit());
    const { build } = await import('./commands/build.ts');
    const { adapter, output, precision, kvCache, device } = flags;
    await build({ folder, adapter, output, precision, kvCache, device }, processTerminal);
  });

registerTrainingCommands(program, {
  addSettings: command => addSettings(command, ['dataDir', 'databaseUrl', 'queryTimeLimitMs']),
  configFrom,
});

registerKeyCommands(program, {
  addSettings: command => addSettings(command, ['dataDir', 'databaseUrl']),
  configFrom,
});

registerFeedbackCommands(program, {
  addSettings: command =>
    addSettings(command, ['dataDir', 'databaseUrl', 'clickhouseUrl', 'queryTimeLimitMs']),
  configFrom,
});

type Flags = Readonly<Record<string, string | undefined>>;

interface BuildFlags {
  readonly adapter?: string;
  readonly output?: string;
  readonly precision: Config['precision'];
  readonly kvCache: Config['kvCache'];
  readonly device: 'cpu' | 'gpu';
}

interface ChatFlags {
  readonly temperature?: number;
  readonly maxTokens?: number;
}

function addSettings(command: Command, names: readonly SettingName[]): Command {
  for (const name of names) {
    const setting: Setting<unknown> = SETTINGS[name];
    const text = `${setting.description} [${setting.variable}, default: ${shownDefault(setting)}]`;
    command.addOption(new Option(`${setting.flag} <${setting.valueName}>`, text));
  }
  return command;
}

function configFrom(flags: Readonly<Record<string, unknown>>): Config {
  const texts: Record<string, string> = {};
  for (const name of ALL_SETTINGS) {
    // Commander names values after the flag; the table's name of a setting may differ (bodyLimitBytes, --body-limit).
    const key = SETTINGS[name].flag
      .slice(2)
      .replace(/-(.)/g, (_match, letter: string) => letter.toUpperCase());
    const value = flags[key];
    if (typeof value === 'string') texts[name] = value;
  }
  return readConfig(process.env, texts);
}

function toNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.');
  return value;
}

const MIN_NODE_MAJOR = 24;

try {
  const [major] = process.versions.node.split('.');
  if (Number(major) < MIN_NODE_MAJOR)
    throw new UserError(`Ortler needs Node ${MIN_NODE_MAJOR} or newer; this is ${process.version}.`);
  await program.parseAsync();
} catch (error) {
  // Mistakes get their message; anything else is a fault of ours and keeps its stack.
  if (!(error instanceof UserError || error instanceof ConfigError)) throw error;
  processTerminal.err(`${error.message}\n`);
  process.exitCode = 1;
}
