import { describe, it } from 'vitest';
import { createNativeBackend } from './native-backend.ts';
import { ORT_DEVICE_CONFORMANCE } from './testing/ort-device-conformance.ts';
import { whyNoWebGpu } from './testing/webgpu-tests.ts';

const reason = await whyNoWebGpu();

describe.skipIf(reason !== undefined)(`webgpu sessions of the native backend, ${reason ?? 'here'}`, () => {
  it.each(ORT_DEVICE_CONFORMANCE)('$name', ({ check }) => check(createNativeBackend(), 'webgpu'));
});
