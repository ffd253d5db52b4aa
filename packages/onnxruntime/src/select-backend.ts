// Selects the ONNX Runtime binding. Both are loaded on demand, because importing the FFI library throws on platforms without a
// prebuilt binary.

import type { OrtBackend } from './backend.ts';
import { OrtError } from './errors.ts';

export interface SelectedBackend {
  readonly backend: OrtBackend;
  /** Why `auto` settled for the slower binding. */
  readonly note?: string;
}

/** How the two bindings are made; tests put failing ones in. */
export interface BackendLoaders {
  readonly native: () => Promise<OrtBackend>;
  readonly node: () => Promise<OrtBackend>;
}

const LOADERS: BackendLoaders = {
  native: async () => (await import('./native-backend.ts')).createNativeBackend(),
  node: async () => (await import('./node-backend.ts')).createNodeBackend(),
};

/**
 * `auto` takes the native binding where it loads, else the stock one with a note that says why.
 * Throws: `runtime_failed` when the binding asked for, or with `auto` neither, can be loaded.
 */
export async function selectBackend(
  choice: 'auto' | 'native' | 'node',
  loaders: BackendLoaders = LOADERS,
): Promise<SelectedBackend> {
  if (choice !== 'auto') return { backend: await load(choice, loaders) };
  try {
    return { backend: await load('native', loaders) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const note = `${reason} Using the API of onnxruntime-node, which copies every output, also a KV cache.`;
    return { backend: await load('node', loaders), note };
  }
}

async function load(name: 'native' | 'node', loaders: BackendLoaders): Promise<OrtBackend> {
  try {
    return await loaders[name]();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The "${name}" binding of ONNX Runtime cannot be loaded here: ${reason}`;
    throw new OrtError('runtime_failed', message, { cause });
  }
}
