// Settles the options of the token side: the caller's options over the defaults of the device, within the limits of the
// model. Caller: load-core.ts, once the device is known.

import { availableParallelism } from 'node:os';
import { wrongOption } from './check-options.ts';
import { type CoreOptions, MODEL_OPTIONS, type OptionEntry, TUNING_OPTIONS } from './options.ts';

/** Where the model runs. */
export type ModelDevice = Exclude<NonNullable<CoreOptions['device']>, 'auto'>;

export interface LoadFacts {
  readonly device: ModelDevice;
  /** The context length that the model was built for. */
  readonly contextLength: number;
}

type Filled<Values, Open extends keyof Values = never> = {
  readonly [Name in Exclude<keyof Values, Open>]-?: NonNullable<Values[Name]>;
} & Pick<Values, Open>;

/** Every option with its value. */
export interface SettledOptions extends Omit<Filled<Omit<CoreOptions, 'tuning'>>, 'device'> {
  readonly device: ModelDevice;
  readonly tuning: Filled<NonNullable<CoreOptions['tuning']>, 'cacheBytes'>;
}

/** Throws: `model_invalid` for a context that is longer than the model's. */
export function settleOptions(options: CoreOptions, { device, contextLength }: LoadFacts): SettledOptions {
  const { modelDir, tuning: givenTuning = {} } = options;
  const settled = {
    ...defaultsOf(MODEL_OPTIONS, device),
    contextLength,
    ...givenOnly(options),
    modelDir,
    device,
  };
  const tuning = {
    ...defaultsOf(TUNING_OPTIONS, device),
    ...givenOnly(givenTuning),
  } as SettledOptions['tuning'];
  const { threadCount, prefixCaching, ...others } = settled as Omit<SettledOptions, 'tuning'>;
  if (others.contextLength > contextLength)
    throw wrongOption(
      'contextLength',
      `must be at most ${contextLength}, which the model was built for; got ${others.contextLength}`,
    );
  return {
    ...others,
    prefixCaching,
    threadCount: threadCount === 0 ? availableParallelism() : threadCount,
    tuning: { ...tuning, cacheSlots: prefixCaching ? tuning.cacheSlots : 0 },
  };
}

function defaultsOf(
  table: Readonly<Record<string, Pick<OptionEntry<unknown>, 'cpuDefault' | 'deviceDefault'>>>,
  device: ModelDevice,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(table).map(([name, { cpuDefault, deviceDefault }]) => [
      name,
      device === 'cpu' ? cpuDefault : deviceDefault,
    ]),
  );
}

/** Without the options that are undefined. */
function givenOnly(values: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
