// Files of a built model folder.

/** File beside the graph that describes it; see `ModelManifest`. */
export const MANIFEST_FILE = 'ortler-model.json';

/** File of a built graph's weights, beside it; a path where the graph's is one. */
export function weightsFileName(graphFile: string): string {
  return `${graphFile}.data`;
}

/** Raised when graphs of older builds would run wrongly; part of the build cache key. */
export const GRAPH_FORMAT_VERSION = 2;

/** Files of the checkpoint that are copied beside the graph so that the built folder stands alone. */
export const COMPANION_FILES = [
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
  'chat_template.json',
] as const;

/** Folder of the checkpoint with further chat templates, `NAME.jinja`; copied with the companion files. */
export const CHAT_TEMPLATE_FOLDER = 'additional_chat_templates';
