// The operators of `packages/kernels` as domains of ONNX Runtime, one for each instruction set in use: a backend adds its domain
// to its sessions on the CPU.

import { basename } from 'node:path';
import { findKernelLibrary, KERNELS_DOMAIN, type KernelLibrary } from '@ortler/kernels';
import koffi, { type LibraryHandle } from 'koffi';
import type { KernelChoice, KernelIsa, KernelsInUse } from './backend.ts';
import { checkStatus, type Handle, type OrtCApi, receive, setStackSize } from './c-api.ts';
import { OrtError } from './errors.ts';

export type KernelOperators =
  | { readonly isa: KernelIsa; readonly domain: Handle }
  | Extract<KernelsInUse, { missing: string }>;

interface OpenedLibrary {
  readonly library: LibraryHandle;
  /** Instruction sets of this CPU that the library was compiled for, the best one first. */
  readonly isas: readonly KernelIsa[];
  /** Filled as backends ask for them. */
  readonly domains: Map<KernelIsa, Handle>;
}

/** By file; never closed, because sessions hold addresses of its functions. */
const OPENED = new Map<string, OpenedLibrary>();

/**
 * Throws: `runtime_failed` when an instruction set is asked for by name and cannot be used.
 */
export function loadKernelOperators(
  api: OrtCApi,
  choice: KernelChoice,
  found: KernelLibrary = findKernelLibrary(),
): KernelOperators {
  if (choice === 'off') return { missing: 'they are switched off' };
  const opened = openLibrary(found);
  if ('missing' in opened) {
    if (choice === 'auto') return opened;
    throw new OrtError('runtime_failed', `Kernels for ${choice} cannot be used: ${opened.missing}.`);
  }
  const isa = choice === 'auto' ? opened.isas[0]! : choice;
  if (!opened.isas.includes(isa)) {
    const message = `This CPU does not run kernels for "${isa}". It runs those for: ${opened.isas.join(', ')}.`;
    throw new OrtError('runtime_failed', message);
  }
  const domain = opened.domains.get(isa) ?? createDomain(api, opened, isa);
  opened.domains.set(isa, domain);
  return { isa, domain };
}

/** The instruction set that `auto` takes, without ONNX Runtime. */
export function findBestIsa(found: KernelLibrary = findKernelLibrary()): KernelsInUse {
  const opened = openLibrary(found);
  return 'missing' in opened ? opened : { isa: opened.isas[0]! };
}

function openLibrary(found: KernelLibrary): OpenedLibrary | { readonly missing: string } {
  if ('missing' in found) return found;
  const { file, hash } = found;
  const known = OPENED.get(file);
  if (known !== undefined) return known;
  // Clients may see the reasons, so they have no paths of the machine.
  const name = basename(file);
  try {
    setStackSize();
    const library = koffi.load(file);
    const builtFrom: unknown = library.func('ortler_kernels_hash', 'str', [])();
    if (builtFrom !== hash) {
      return { missing: `the library ${name} was built from other sources (${String(builtFrom)})` };
    }
    const isas = readIsas(library);
    if (isas.length === 0) {
      return { missing: 'this CPU has none of AVX-512 VNNI, AVX2 and NEON with dot products' };
    }
    const opened = { library, isas, domains: new Map<KernelIsa, Handle>() };
    OPENED.set(file, opened);
    return opened;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { missing: `the library ${name} cannot be loaded (${reason.replaceAll(file, name)})` };
  }
}

function readIsas(library: LibraryHandle): readonly KernelIsa[] {
  const getIsa = library.func('ortler_kernels_isa', 'str', ['int']);
  const isas: KernelIsa[] = [];
  for (let isa = getIsa(0) as KernelIsa | null; isa !== null; isa = getIsa(isas.length) as KernelIsa | null)
    isas.push(isa);
  return isas;
}

function createDomain(api: OrtCApi, { library, isas }: OpenedLibrary, isa: KernelIsa): Handle {
  const { functions } = api;
  const doing = 'Adding the operators of the kernels';
  const domain = receive(api, 'runtime_failed', doing, out =>
    functions.createCustomOpDomain(KERNELS_DOMAIN, out),
  );
  const getOperator = library.func('ortler_kernels_operator', 'uintptr_t', ['int', 'int']);
  for (let index = 0; ; index++) {
    const operator = BigInt(getOperator(isas.indexOf(isa), index) as number | bigint);
    if (operator === 0n) return domain;
    checkStatus(functions, functions.customOpDomainAdd(domain, operator), 'runtime_failed', doing);
  }
}
