// `ortler doctor`: looks at everything that a server needs, and says what to do about what is wrong.

import type { Config } from '../../config/config.ts';
import type { Terminal } from '../terminal.ts';
import { checkDevice, checkKernels, checkLibrary, checkMemory, checkVersions } from './check-machine.ts';
import {
  checkAddress,
  checkClickHouse,
  checkDatabase,
  checkDataFolder,
  checkModels,
} from './check-service.ts';
import { type Finding, printFindings } from './finding.ts';

/** Resolves with whether there is no problem. */
export async function doctor(
  config: Config,
  { isJson }: { readonly isJson: boolean },
  { out }: Terminal,
): Promise<boolean> {
  const findings: readonly Finding[] = [
    checkVersions(),
    checkMemory(),
    await checkLibrary(),
    await checkKernels(),
    await checkDevice(config),
    await checkDataFolder(config),
    await checkDatabase(config),
    ...(await checkClickHouse(config)),
    ...checkModels(config),
    await checkAddress(config),
  ];
  const problems = findings.filter(({ state }) => state === 'problem');
  if (isJson) out(`${JSON.stringify({ findings }, null, 2)}\n`);
  else {
    out(printFindings(findings));
    out(
      problems.length === 0
        ? '\nNo problems found.\n'
        : `\n${problems.length} of ${findings.length} need attention.\n`,
    );
  }
  return problems.length === 0;
}
