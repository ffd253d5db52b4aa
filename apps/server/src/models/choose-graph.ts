// The choice among the graphs of a repository of the Hub, by the settings of device and precision.

import { chooseVariants } from '@ortler/engine/graph-contract';
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
    const [variant] = chooseVariants({ device, isOptional: false }, await probeKernels());
    return chooseExportFiles(files, { precision, variant });
  };
}
