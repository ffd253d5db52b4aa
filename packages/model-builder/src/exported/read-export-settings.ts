// The settings of an export, whatever its layout.

import type { ExportLayout, ExportSettings } from './export-settings.ts';
import { readGenaiSettings } from './genai-settings.ts';
import { readOptimumSettings } from './optimum-settings.ts';

const READERS: Readonly<Record<ExportLayout, (folder: string) => Promise<ExportSettings>>> = {
  optimum: readOptimumSettings,
  genai: readGenaiSettings,
};

/** Throws: `source_invalid`, `config_invalid`, `unsupported`. */
export function readExportSettings(layout: ExportLayout, folder: string): Promise<ExportSettings> {
  return READERS[layout](folder);
}
