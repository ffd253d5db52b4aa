// Test doubles and conformance suites for packages that build on the engine.

export {
  hashTokens,
  ScriptedModel,
  type ScriptedModelOptions,
  scriptedLogits,
} from './scripted-model.ts';
