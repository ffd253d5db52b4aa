// Selects the ONNX Runtime binding. Both are loaded on demand, because importing the FFI library throws on platforms without a
// prebuilt binary.

import type { OrtBackend, OrtBackendOptions } from './backend.ts';
import { OrtError } from './errors.ts';
import { findOrtLibrary } from './find-library.ts';

export interface SelectedBackend {
  readonly backend: OrtBackend;
  /** Why `auto` settled for the slower binding. */
  readonly note?: string;
}

/** How the two bindings are made; tests put failing ones in. */
export interface BackendLoaders {
  readonly native: (options: OrtBackendOptions) => Promise<OrtBackend>;
  readonly node: () => Promise<OrtBackend>;
}

const LOADERS: BackendLoaders = {
  native: async options => (await import('./native-backend.ts')).createNativeBackend(options),
  node: async () => {
    // Says what is missing in clearer words than the loader of libraries.
    findOrtLibrary();
    return (await import('./node-backend.ts')).createNodeBackend();
  },
};

/**
 * `auto` takes the native binding where it loads, else the stock one with a note that says why. Kernels of a named
 * instruction set need the native binding.
 * Throws: `runtime_failed` when the binding asked for, or with `auto` neither, can be loaded.
 */
export async function selectBackend(
  choice: 'auto' | 'native' | 'node',
  options: OrtBackendOptions = {},
  loaders: BackendLoaders = LOADERS,
): Promise<SelectedBackend> {
  const { kernels = 'auto' } = options;
  const needsNative = kernels !== 'auto' && kernels !== 'off';
  if (choice === 'node' && needsNative) {
    const message = `The "node" binding of ONNX Runtime has no kernels for "${kernels}"; the native binding has.`;
    throw new OrtError('runtime_failed', message);
  }
  const native = (): Promise<OrtBackend> => load('native', () => loaders.native(options));
  const node = (): Promise<OrtBackend> => load('node', loaders.node);
  if (choice === 'node') return { backend: await node() };
  if (choice === 'native' || needsNative) return { backend: await native() };
  try {
    return { backend: await native() };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const note = `${reason} Using the API of onnxruntime-node, which copies every output, also a KV cache.`;
    return { backend: await node(), note };
  }
}

async function load(name: 'native' | 'node', loader: () => Promise<OrtBackend>): Promise<OrtBackend> {
  try {
    return await loader();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The "${name}" binding of ONNX Runtime cannot be loaded here: ${reason}`;
    throw new OrtError('runtime_failed', message, { cause });
  }
}
