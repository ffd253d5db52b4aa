// The check of an adapter folder by itself. Callers: the content hash, hosts before they download the base of the adapter, and the server
// when the adapter is registered.

import { ModelBuildError } from '../errors.ts';
import { checkReadable } from '../read-fault.ts';
import { ADAPTER_WEIGHTS_FILE, LoraAdapter } from './adapter.ts';
import { ADAPTER_CONFIG_FILE } from './adapter-config.ts';

/**
 * Reads the configuration and the header of the weights. Whether the adapter fits its base shows in the build.
 * Throws: `source_invalid`, `source_unreadable`, `config_invalid`, `weights_corrupt`, `unsupported`, `tensor_missing`, `tensor_mismatch`.
 */
export async function checkAdapter(adapterDir: string): Promise<void> {
  // Before the files of a folder are missed in it.
  if (/\.gguf$/i.test(adapterDir)) {
    const message = `${adapterDir} is a GGUF file; adapters are folders with ${ADAPTER_CONFIG_FILE} and ${ADAPTER_WEIGHTS_FILE}`;
    throw new ModelBuildError('unsupported', message, { file: adapterDir });
  }
  await checkReadable(adapterDir);
  const adapter = await LoraAdapter.open(adapterDir);
  try {
    adapter.checkPairs();
  } finally {
    await adapter.close();
  }
}
