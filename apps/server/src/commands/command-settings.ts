// Settings as flags of a command, and the configuration that they make with the environment.

import { type Command, Option } from 'commander';
import { type Config, readConfig } from '../config/config.ts';
import type { Setting } from '../config/settings/setting.ts';
import { SETTINGS, shownDefault } from '../config/settings.ts';

export type SettingName = keyof typeof SETTINGS;

export const ALL_SETTINGS = Object.keys(SETTINGS) as SettingName[];
export const HUB_SETTINGS: readonly SettingName[] = ['offline', 'hubCacheDir', 'hubEndpoint', 'hubToken'];
/** Of commands that open the database. */
export const DATABASE_SETTINGS: readonly SettingName[] = ['dataDir', 'databaseUrl'];

/** Values of flags by commander's names for them. */
export type Flags = Readonly<Record<string, unknown>>;

/** Adds a flag for each setting. */
export function addSettings(command: Command, names: readonly SettingName[]): Command {
  for (const name of names) {
    const setting: Setting<unknown> = SETTINGS[name];
    const text = `${setting.description} [${setting.variable}, default: ${shownDefault(setting)}]`;
    const value = setting.isSwitch === true ? '' : ` <${setting.valueName}>`;
    command.addOption(new Option(`${setting.flag}${value}`, text));
  }
  return command;
}

/** The settings among `names` whose flags were given. */
export function givenSettings(flags: Flags, names: readonly SettingName[]): readonly SettingName[] {
  return names.filter(name => flags[keyOf(name)] !== undefined);
}

/** The configuration: flags before environment before defaults. Other flags are ignored. Throws: `ConfigError`. */
export function configFrom(flags: Flags): Config {
  const texts: Record<string, string> = {};
  for (const name of ALL_SETTINGS) {
    const value = flags[keyOf(name)];
    if (typeof value === 'string') texts[name] = value;
    if (value === true) texts[name] = 'on';
  }
  return readConfig(process.env, texts);
}

/** Commander names values after the flag, which may differ from the setting (--body-limit, bodyLimitBytes). */
function keyOf(name: SettingName): string {
  return SETTINGS[name].flag.slice(2).replace(/-(.)/g, (_match, letter: string) => letter.toUpperCase());
}
