// A native backend that remembers what sessions allocate on a device, for tests that ask how much that is, or that put
// something into it.

import type { OrtBackend, OrtSession, OrtValue } from '@ortler/onnxruntime';

export interface CountingBackend {
  readonly backend: OrtBackend;
  /** Everything allocated and not disposed, in its order. */
  readonly values: Set<OrtValue>;
  /** How often something was allocated. */
  allocationCount: number;
}

export function countAllocations(backend: OrtBackend): CountingBackend {
  const counting: CountingBackend = {
    values: new Set(),
    allocationCount: 0,
    backend: {
      name: backend.name,
      version: backend.version,
      kernels: backend.kernels,
      createSession: async (model, options) => wrap(await backend.createSession(model, options)),
      createTensor: (type, shape, data) => backend.createTensor(type, shape, data),
      allocateZeros: byteLength => backend.allocateZeros(byteLength),
      copy: (source, target) => backend.copy(source, target),
      describeDevice: device => backend.describeDevice(device),
    },
  };
  const wrap = (session: OrtSession): OrtSession => ({
    device: session.device,
    inputNames: session.inputNames,
    outputNames: session.outputNames,
    cpuOperators: session.cpuOperators,
    bind: (inputs, outputs) => session.bind(inputs, outputs),
    allocate: (type, shape) => {
      counting.allocationCount++;
      const value = session.allocate(type, shape);
      counting.values.add(value);
      const dispose = value.dispose.bind(value);
      value.dispose = () => {
        counting.values.delete(value);
        dispose();
      };
      return value;
    },
    view: (value, shape) => session.view(value, shape),
    dispose: () => session.dispose(),
  });
  return counting;
}
