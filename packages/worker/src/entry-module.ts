// URL of the entry module of a thread or child process, beside the module that starts it: TypeScript in a checkout, JavaScript
// in a published package.

export interface EntryModule {
  readonly url: URL;
  /** Options of Node that the entry needs to resolve its imports as its starter does. */
  readonly execArgv: readonly string[];
}

/** `from` is the starter's `import.meta.url`; `path` is relative to it, without extension. */
export function entryModule(path: string, from: string): EntryModule {
  const isSource = new URL(from).pathname.endsWith('.ts');
  return {
    url: new URL(`${path}${isSource ? '.ts' : '.js'}`, from),
    execArgv: isSource ? ['--conditions=@ortler/source'] : [],
  };
}
