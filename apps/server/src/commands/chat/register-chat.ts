// `ortler chat`: arguments and help. chat.ts runs it.

import type { Command } from 'commander';
import { SETTINGS } from '../../config/settings.ts';
import { toNumber, toPositiveInteger } from '../argument-values.ts';
import {
  addSettings,
  configFrom,
  type Flags,
  givenSettings,
  HUB_SETTINGS,
  type SettingName,
} from '../command-settings.ts';
import { endWithOutput, processTerminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';

const CHAT_SETTINGS: readonly SettingName[] = [
  'models',
  'dataDir',
  'device',
  'precision',
  'kvCache',
  'threads',
  'contextLength',
  ...HUB_SETTINGS,
  'chatTemplates',
];

const EXAMPLES = `
Examples:
  ortler chat "What is the capital of France?"
  ortler chat Qwen/Qwen3-0.6B "What is the capital of France?"     downloads the model on first use
  ortler chat Qwen/Qwen3-0.6B                                      a conversation with it
  ortler chat --model path/to/SmolLM2-135M-Instruct --temperature 0
  ortler chat --model path/to/SmolLM2-135M-Instruct-Q4_K_M.gguf
  ORTLER_API_KEY=<key> ortler chat --url http://127.0.0.1:8000 "What is the capital of France?"
`;

interface ChatFlags extends Flags {
  readonly model?: string;
  readonly url?: string;
  readonly system?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
}

/** Adds the command to the program. */
export function registerChatCommand(program: Command): void {
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
      .option('--max-tokens <number>', 'maximum number of tokens in an answer', toPositiveInteger),
    CHAT_SETTINGS,
  )
    .addHelpText('after', EXAMPLES)
    .action(async (first: string | undefined, second: string | undefined, flags: ChatFlags) => {
      const { url, system, temperature, maxTokens } = flags;
      refuseWithoutEffect(flags);
      endWithOutput();
      const config = configFrom(flags);
      const { chat, readChatArguments } = await import('./chat.ts');
      const { model, question } = readChatArguments([first, second], flags.model);
      await chat({ question, model, url, system, temperature, maxTokens }, config, processTerminal);
    });
}

/** Throws: `UserError` for flags of an engine beside a server, and for a key without one. */
function refuseWithoutEffect(flags: ChatFlags): void {
  if (flags.url === undefined) {
    if (flags.apiKey !== undefined)
      throw new UserError('--api-key is the key of a server: give its address with --url.');
    return;
  }
  const [name] = givenSettings(flags, CHAT_SETTINGS);
  if (name !== undefined)
    throw new UserError(
      `${SETTINGS[name].flag} has no effect with --url: the server has settings of its own. Leave one of them out.`,
    );
}
