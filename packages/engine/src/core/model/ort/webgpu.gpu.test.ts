import { describe, it } from 'vitest';
import { ORT_DEVICE_CONFORMANCE } from '../../../testing/ort-device-conformance.ts';
import { whyNoWebGpu } from '../../../testing/webgpu-tests.ts';
import { createNativeBackend } from './native-backend.ts';

const reason = await whyNoWebGpu();

describe.skipIf(reason !== undefined)(`webgpu sessions of the native backend, ${reason ?? 'here'}`, () => {
  it.each(ORT_DEVICE_CONFORMANCE)('$name', ({ check }) => check(createNativeBackend(), 'webgpu'));
});
