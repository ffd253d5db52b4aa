import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SETTINGS } from '../../config/settings.ts';
import { adviseOnOption, OTHER_SERVERS_OPTIONS } from './other-servers-options.ts';

const FLAGS: ReadonlySet<string> = new Set(Object.values(SETTINGS).map(({ flag }) => flag));

it.each(['--max-model-len', '--max_model_len', '--max-model-len=4096', '-c'])('advises on %s', option => {
  expect(adviseOnOption(`error: unknown option '${option}'\n(Did you mean --models?)\n`)).toBe(
    `error: unknown option '${option}'\nUse --context-length.\n`,
  );
});

it('leaves other errors as they are', () => {
  const error = "error: unknown option '--prot'\n(Did you mean --port?)\n";
  expect(adviseOnOption(error)).toBe(error);
  expect(adviseOnOption('error: too many arguments\n')).toBe('error: too many arguments\n');
});

it('names settings that exist, and no option that this server has', () => {
  // `ortler build` has this one.
  const known = new Set([...FLAGS, '--adapter']);
  for (const [options, advice] of OTHER_SERVERS_OPTIONS) {
    for (const flag of advice.match(/--[\w-]+/g) ?? []) expect(known, flag).toContain(flag);
    for (const option of options) expect(FLAGS, option).not.toContain(option);
  }
});

it('is in docs/migration.md, option by option', () => {
  const page = readFileSync(new URL('../../../../../docs/migration.md', import.meta.url), 'utf8');
  for (const option of OTHER_SERVERS_OPTIONS.flatMap(([options]) => options))
    expect(page).toContain(`\`${option}\``);
});
