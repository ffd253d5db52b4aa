// Public surface of @ortler/json.

export { parseNatively } from './escaped-names.ts';
export { JsonCounter, type JsonCountLimits } from './json-counts.ts';
export {
  type JsonSlice,
  JsonSliceTooLongError,
  JsonTextReader,
} from './json-text-reader.ts';
export { emptyMap, equalJson, isList, isMap, type JsonMap, type JsonValue } from './json-value.ts';
export {
  describeJsonLimit,
  type JsonLimit,
  JsonSyntaxError,
  type LosslessJsonOptions,
  parseJson,
  parseLosslessJson,
  parseLosslessJsonInSlices,
  parseTypedJson,
  printJson,
  type SlicedJsonOptions,
  stringifyLosslessJson,
} from './lossless-json.ts';
export { replaceBigIntegers } from './replace-integers.ts';
