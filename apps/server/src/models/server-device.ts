// Where the models of this server run: chosen once, when the first one is prepared, as its graph depends on it.

import { chooseDevice, type DeviceChoice } from '@ortler/onnxruntime';

export interface ServerDevice {
  /** Resolves with the same choice each time. Throws: `EngineError` when a device asked for by name cannot be used. */
  choose(): Promise<DeviceChoice>;
  /** Undefined until it is chosen. */
  readonly chosen: DeviceChoice | undefined;
}

/** `onChosen` is told once. */
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
