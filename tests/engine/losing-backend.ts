// A backend whose device is lost at a moment of the test's choice: from then on every call that needs the device fails, as
// ONNX Runtime's do, while the process lives on. A driver in software is never lost by itself.

import type { OrtBackend, OrtSession } from '@ortler/onnxruntime';

/** `isLost` is asked before every call; once it says so, the device stays lost. */
export function loseDevice(backend: OrtBackend, isLost: () => boolean): OrtBackend {
  let wasLost = false;
  const meet = (doing: string): void => {
    wasLost ||= isLost();
    if (wasLost) throw new Error(`${doing}: WebGPU device lost (2): a reset of the driver.`);
  };
  const wrap = (session: OrtSession): OrtSession => ({
    device: session.device,
    inputNames: session.inputNames,
    outputNames: session.outputNames,
    cpuOperators: session.cpuOperators,
    bind: (inputs, outputs) => {
      const binding = session.bind(inputs, outputs);
      return {
        run: async options => {
          meet('Running the model');
          await binding.run(options);
        },
        dispose: () => binding.dispose(),
      };
    },
    allocate: (type, shape) => session.allocate(type, shape),
    view: (value, shape) => session.view(value, shape),
    dispose: () => session.dispose(),
  });
  return {
    name: backend.name,
    version: backend.version,
    kernels: backend.kernels,
    createSession: async (model, options) => wrap(await backend.createSession(model, options)),
    createTensor: (type, shape, data) => backend.createTensor(type, shape, data),
    allocateZeros: byteLength => backend.allocateZeros(byteLength),
    copy: async (source, target) => {
      meet('Copying');
      await backend.copy(source, target);
    },
    describeDevice: device => backend.describeDevice(device),
  };
}
