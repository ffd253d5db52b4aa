// The device of all models of a server: chosen once, before the first model is built, because graphs depend on it.

import { chooseDevice, type DeviceChoice } from '@ortler/onnxruntime';

export interface ServerDevice {
  /** Resolves with the same choice each time. Throws: `EngineError` when the device named by the operator cannot be used. */
  choose(): Promise<DeviceChoice>;
  /** Undefined until it is chosen. */
  readonly chosen: DeviceChoice | undefined;
}

/** `onChosen` is called once. `choose` is replaced in tests. */
export function createServerDevice(
  wanted: Parameters<typeof chooseDevice>[0],
  onChosen: (choice: DeviceChoice) => void,
  choose: (wanted: Parameters<typeof chooseDevice>[0]) => Promise<DeviceChoice> = chooseDevice,
): ServerDevice {
  let chosen: DeviceChoice | undefined;
  let choosing: Promise<DeviceChoice> | undefined;
  return {
    choose() {
      choosing ??= choose(wanted).then(choice => {
        chosen = choice;
        onChosen(choice);
        return choice;
      });
      return choosing;
    },
    get chosen() {
      return chosen;
    },
  };
}
