import type { EngineInfo } from '@ortler/engine';

/** Why a loaded model runs slower than it could. */
export function speedNotes({
  backendNote,
  samplingNote,
  deviceNote,
  memoryNote,
}: EngineInfo): readonly string[] {
  return [backendNote, samplingNote, deviceNote, memoryNote].filter(note => note !== undefined);
}
