// The choice among the graphs of a repository of the Hub, by the settings of device and precision.

import { chooseVariant } from '@ortler/engine/graph-contract';
import type { FetchModelOptions } from '@ortler/hub';
import { chooseExportFiles } from '@ortler/model-builder';
import { type DeviceChoice, probeKernels } from '@ortler/onnxruntime';
import type { Config } from '../config/config.ts';

/** `chooseDevice` is called only for such a repository. */
export function createGraphChoice(
  { precision }: Pick<Config, 'precision'>,
  chooseDevice: () => Promise<DeviceChoice>,
): NonNullable<FetchModelOptions['chooseGraph']> {
  return async files => {
    const { device } = await chooseDevice();
    return chooseExportFiles(files, { precision, variant: chooseVariant(device, await probeKernels()) });
  };
}
