// The environment of child processes that run models and drivers: what the system, Node and drivers need, and no secrets of the host.

/** Exact names. */
const NAMES: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'TMP',
  'TEMP',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'PWD',
  // Windows
  'SYSTEMROOT',
  'SYSTEMDRIVE',
  'WINDIR',
  'COMSPEC',
  'PATHEXT',
  'USERPROFILE',
  'LOCALAPPDATA',
  'APPDATA',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'COMMONPROGRAMFILES',
  'NUMBER_OF_PROCESSORS',
  'PROCESSOR_ARCHITECTURE',
]);

/** Families: Node, the loader of libraries, graphics and compute drivers, ONNX Runtime and its threads. */
const PREFIXES: readonly string[] = [
  'LC_',
  'XDG_',
  'NODE_',
  'V8_',
  'LD_',
  'DYLD_',
  'MALLOC_',
  'ASAN_',
  'GLIBC_',
  'ORT_',
  'OMP_',
  'GOMP_',
  'KMP_',
  'MKL_',
  'DAWN_',
  'VK_',
  'VULKAN_',
  'MESA_',
  'LIBGL_',
  'GALLIUM_',
  'LP_',
  'DRI_',
  'EGL_',
  'RADV_',
  'AMD_',
  'HSA_',
  'HIP_',
  'ROCM_',
  'ROCR_',
  'INTEL_',
  'ANV_',
  'CUDA_',
  'NVIDIA_',
  'NV_',
  '__GL_',
  '__EGL_',
  '__NV_',
  '__VK_',
];

/** A name of a family that is a secret all the same. */
const SECRET = /KEY|TOKEN|SECRET|PASS(WORD|WD|PHRASE)?$|CREDENTIAL|AUTH/;

/** The part of `variables` that a child process gets. API keys, database addresses and tokens stay with the host. */
export function childEnvironment(
  variables: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables))
    if (value !== undefined && isNeeded(name.toUpperCase())) kept[name] = value;
  return kept;
}

function isNeeded(name: string): boolean {
  if (NAMES.has(name)) return true;
  return PREFIXES.some(prefix => name.startsWith(prefix)) && !SECRET.test(name);
}
