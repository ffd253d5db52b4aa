// What a token side is started with. Plain data: it crosses processes and threads inside the `load` message.

/** Where and how the model runs; settled before the token side starts. */
export interface CoreOptions {
  /** Folder with `ortler-model.json`. */
  readonly modelDir: string;
  readonly device: 'auto' | 'cpu' | 'webgpu' | 'cuda';
  /** ONNX Runtime binding: `auto` takes `native` where its library loads, else `node`. */
  readonly backend: 'auto' | 'native' | 'node';
  /** Threads of one model call, and of sampling where the vocabulary is large (four at most). 0: as many as the machine has cores. */
  readonly threadCount: number;
  /** Threads wait for each other in a busy loop for a short while before they sleep. Default: true. */
  readonly spin?: boolean;
  /** Most sequences that run at the same time; on the processor each has a cache slot. */
  readonly maxSequences: number;
  /** Most tokens of a sequence. Undefined: what the model was built for. */
  readonly contextLength?: number;
  /** Most prompt tokens of one step; longer prompts are prefilled in chunks. */
  readonly prefillChunkLength: number;
  /**
   * Most prompt tokens of a step in which answers run as well: what they wait for between two tokens. Smaller keeps
   * running answers even, larger lets new ones start sooner. Deep in a prompt it is less, down to a quarter, as a token
   * takes longer there. Default: 32.
   */
  readonly mixedChunkLength?: number;
  /** Most sequences waiting for a slot before `overloaded`. */
  readonly maxQueuedSequences: number;
  /** Who runs first: by arrival, or by `priority` and then arrival. Default: `fcfs`. */
  readonly schedulingPolicy?: 'fcfs' | 'priority';
  /** Keep computed prompts for later requests that begin alike. Default: true. */
  readonly prefixCaching?: boolean;
  /**
   * Compute prompts and batches of 4 and more by the model's graph for many rows, if it has one (models in 4 bits have), and
   * prompts with a cache in 8 bits by theirs: several times faster, for a second copy of the weights in memory. What batches
   * round then depends on their size. Default: true.
   */
  readonly wideGraphs?: boolean;
  /**
   * Cache slots besides those of `maxSequences`, for computed prompts only. A slot takes memory for the longest
   * sequence that it ever held, so each costs at most what a running sequence costs. On a device: room for so many whole
   * contexts, if it has it. Default: 4; 0 without `prefixCaching`.
   */
  readonly cacheSlots?: number;
  /**
   * Memory of the cache of a model on a device. Unit: bytes. Default: what the device has besides the weights, as far as
   * the sequences can fill it.
   */
  readonly cacheBytes?: number;
  /**
   * Guess the next tokens from repetitions in the text and check several in one model call, while that is faster. Every
   * token is drawn as without it, from logits that may round otherwise. On a device only where tokens are sampled there.
   * Default: `auto`.
   */
  readonly speculation?: 'auto' | 'off';
  /**
   * Record what a decode step tells the device and repeat it instead of telling it again. Only for models with a paged cache
   * on WebGPU; whether it is faster depends on the device and its driver. Default: false.
   */
  readonly graphCapture?: boolean;
  /**
   * The device is a wish: a model for the processor whose graph leaves work there stays there altogether, and says why.
   * Default: false, which runs it on the device and says what is left.
   */
  readonly isDeviceOptional?: boolean;
}
