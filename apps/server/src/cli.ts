#!/usr/bin/env node
// The `ortler` command line. Commands import their code when they run, so that `--help` and startup are fast.

import { Command, InvalidArgumentError, Option } from 'commander';
import { registerFeedbackCommands } from './commands/feedback/register-feedback.ts';
import { registerKeyCommands } from './commands/keys/register-keys.ts';
import { registerModelCommands } from './commands/models/register-models.ts';
import { onClosedPipe, processTerminal } from './commands/terminal.ts';
import { registerTrainingCommands } from './commands/training/register-training.ts';
import { UserError } from './commands/user-error.ts';
import { type Config, ConfigError, readConfig } from './config/config.ts';
import type { Setting } from './config/settings/setting.ts';
import { SETTINGS, shownDefault } from './config/settings.ts';
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
  'offline',
  'hubCacheDir',
  'hubEndpoint',
  'hubToken',
  'chatTemplates',
];
const HUB_SETTINGS: readonly SettingName[] = ['offline', 'hubCacheDir', 'hubEndpoint', 'hubToken'];

const INSPECT_SETTINGS: readonly SettingName[] = ['device', 'precision', 'kvCache', ...HUB_SETTINGS];

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
const SERVE_EXAMPLES = `
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
const CHAT_EXAMPLES = `
Examples:
  ortler chat "What is the capital of France?"
  ortler chat Qwen/Qwen3-0.6B "What is the capital of France?"     downloads the model on first use
  ortler chat Qwen/Qwen3-0.6B                                      a conversation with it
  ortler chat --model path/to/SmolLM2-135M-Instruct --temperature 0
  ortler chat --model path/to/SmolLM2-135M-Instruct-Q4_K_M.gguf
  ORTLER_API_KEY=<key> ortler chat --url http://127.0.0.1:8000 "What is the capital of France?"
`;

const BUILD_EXAMPLES = `
Examples:
  ortler build path/to/SmolLM2-135M-Instruct --precision q4
  ortler build HuggingFaceTB/SmolLM2-135M-Instruct --precision q4
  ortler build path/to/SmolLM2-135M-Instruct --precision q4 --report
  ortler build path/to/SmolLM2-135M-Instruct-Q4_K_M.gguf --report
  ortler build path/to/SmolLM2-135M-Instruct --adapter path/to/lora --output my-model
  ortler serve --models my-model=my-model
`;

const INSPECT_EXAMPLES = `
Examples:
  ortler inspect Qwen/Qwen3-0.6B
  ortler inspect unsloth/Qwen3-0.6B-GGUF:Q8_0 --context 32768
  ortler inspect path/to/model.gguf --json
  ortler inspect path/to/folder --device cpu
`;

const program = new Command('ortler')
  .description('LLM inference on ONNX Runtime: a server, a chat in the terminal, and a model builder.')
  .version(VERSION)
  .addHelpText('after', EXAMPLES)
  .showHelpAfterError('Run `ortler --help` for commands and examples.');

addSettings(
  program
    .command('serve')
    .description('Serve models over HTTP: OpenAI-compatible REST and tRPC.')
    .argument('[models...]', 'names or paths of models, as for --models'),
  ALL_SETTINGS,
)
  .addHelpText('after', SERVE_EXAMPLES)
  .action(async (models: readonly string[], flags: Flags) => {
    // A server keeps running when the pipe of its messages closes.
    onClosedPipe(() => undefined);
    if (models.length > 0 && flags.models !== undefined)
      throw new UserError('Give models as arguments or with --models, not both.');
    const config = configFrom(models.length > 0 ? { ...flags, models: models.join(',') } : flags);
    const { serve } = await import('./commands/serve.ts');
    await serve(config, processTerminal);
  });

addSettings(
  program
    .command('chat')
    .description(
      'Answer one question, or start a conversation without one. The model runs in this process unless --url names a server.',
    )
    .argument('[model]', 'name, path or id of the model; default: the first of --models')
    .argument('[question]', 'the question; without it, a conversation until Ctrl-D')
    .option('--model <name>', 'the model, where only a question is an argument')
    .option('--url <address>', 'send requests to this running server; needs an API key')
    .option(
      '--api-key <key>',
      `key for the server of --url. Prefer the variable: flags show in process lists. [${SETTINGS.apiKey.variable}]`,
    )
    .option('--system <text>', 'system message')
    .option(
      '--temperature <number>',
      'sampling temperature; 0 is greedy decoding; default: as generation_config.json of the model says',
      toNumber,
    )
    .option('--max-tokens <number>', 'most tokens of an answer', toNumber),
  CHAT_SETTINGS,
)
  .addHelpText('after', CHAT_EXAMPLES)
  .action(async (first: string | undefined, second: string | undefined, flags: Flags & ChatFlags) => {
    const { url, system, temperature, maxTokens } = flags;
    onClosedPipe(() => process.exit());
    const config = configFrom(flags);
    const { chat, readChatArguments } = await import('./commands/chat.ts');
    const { model, question } = readChatArguments([first, second], flags.model);
    await chat({ question, model, url, system, temperature, maxTokens }, config, processTerminal);
  });

addSettings(program.command('build'), HUB_SETTINGS)
  .description(
    'Build a Hugging Face folder (config.json, tokenizer.json, *.safetensors) or a GGUF file into an ONNX model folder, quantised if asked.',
  )
  .argument('<model>', 'a Hugging Face folder, a GGUF file, or a name of the Hub')
  .option('--adapter <folder or name>', 'a PEFT LoRA adapter to merge into the weights')
  .option('--output <folder>', 'the folder to create; default: ./<name>-<precision>')
  .addOption(
    new Option('--precision <name>', SETTINGS.precision.description)
      .choices(['auto', 'f32', 'f16', 'q8', 'q4', 'file'])
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
    toCount,
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
  .addHelpText('after', BUILD_EXAMPLES)
  .action(async (model: string, flags: BuildFlags) => {
    onClosedPipe(() => process.exit());
    const { build } = await import('./commands/build.ts');
    const { adapter, output, precision, kvCache, contextLength, device, reportText } = flags;
    const report = flags.report || reportText !== undefined ? { textFile: reportText } : undefined;
    const { offline, hubCache, hubEndpoint, hubToken } = flags;
    const hub = configFrom({ offline, hubCache, hubEndpoint, hubToken });
    const options = { adapter, output, precision, kvCache, contextLength, device, report, hub };
    await build({ model, ...options }, processTerminal);
  });

addSettings(program.command('inspect'), INSPECT_SETTINGS)
  .description(
    'Show what a model is and what it would take: architecture, parameters, formats, memory, device, download. Nothing is built, and of a model of the Hub only configuration and headers are read.',
  )
  .argument('<model>', 'a folder, a GGUF file, or a name of the Hub')
  .option('--context <tokens>', 'context of the memory; default: 4096, or the longest of the model', toCount)
  .option('--json', 'write JSON')
  .addHelpText('after', INSPECT_EXAMPLES)
  .action(async (model: string, flags: Flags & { readonly context?: number; readonly json?: boolean }) => {
    onClosedPipe(() => process.exit());
    const { context, json = false } = flags;
    const config = configFrom(flags);
    const { inspect } = await import('./commands/inspect/inspect.ts');
    await inspect({ model, contextLength: context, json }, config, processTerminal);
  });

addSettings(program.command('doctor'), ALL_SETTINGS)
  .description(
    'Check what a server needs: versions, memory, ONNX Runtime, device, disk, databases, models, address; and say what to do. Nothing is created or changed.',
  )
  .option('--json', 'write JSON')
  .action(async (flags: Flags & { readonly json?: boolean }) => {
    onClosedPipe(() => process.exit());
    const config = configFrom(flags);
    const { doctor } = await import('./commands/doctor/doctor.ts');
    if (!(await doctor(config, { isJson: flags.json === true }, processTerminal))) process.exitCode = 1;
  });

registerModelCommands(program, {
  addSettings: (command, names = []) => addSettings(command, [...names, ...HUB_SETTINGS]),
  configFrom,
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
  readonly contextLength?: number;
  readonly device: 'cpu' | 'gpu';
  readonly report?: boolean;
  readonly reportText?: string;
  readonly offline?: boolean;
  readonly hubCache?: string;
  readonly hubEndpoint?: string;
  readonly hubToken?: string;
}

interface ChatFlags {
  readonly temperature?: number;
  readonly maxTokens?: number;
}

function addSettings(command: Command, names: readonly SettingName[]): Command {
  for (const name of names) {
    const setting: Setting<unknown> = SETTINGS[name];
    const text = `${setting.description} [${setting.variable}, default: ${shownDefault(setting)}]`;
    const value = setting.isSwitch === true ? '' : ` <${setting.valueName}>`;
    command.addOption(new Option(`${setting.flag}${value}`, text));
  }
  return command;
}

function configFrom(flags: Readonly<Record<string, unknown>>): Config {
  const texts: Record<string, string> = {};
  for (const name of ALL_SETTINGS) {
    // Commander names values after the flag, which may differ from the setting (--body-limit, bodyLimitBytes).
    const key = SETTINGS[name].flag
      .slice(2)
      .replace(/-(.)/g, (_match, letter: string) => letter.toUpperCase());
    const value = flags[key];
    if (typeof value === 'string') texts[name] = value;
    if (value === true) texts[name] = 'on';
  }
  return readConfig(process.env, texts);
}

function toNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.');
  return value;
}

function toCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number above 0.');
  return Number(text);
}

const MIN_NODE_MAJOR = 24;

try {
  const [major] = process.versions.node.split('.');
  if (Number(major) < MIN_NODE_MAJOR)
    throw new UserError(`Ortler needs Node ${MIN_NODE_MAJOR} or newer; this is ${process.version}.`);
  await program.parseAsync();
} catch (error) {
  // Mistakes of the user show their message; anything else is a bug and keeps its stack.
  if (!(error instanceof UserError || error instanceof ConfigError)) throw error;
  processTerminal.err(`${error.message}\n`);
  process.exitCode = 1;
}
