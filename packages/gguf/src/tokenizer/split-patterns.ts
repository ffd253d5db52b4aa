// The regular expressions by which the families split a text into words before BPE, as their published tokenizer.json files
// have them (Oniguruma syntax; the reader of tokenizer.json adapts them).

export const GPT2_PATTERN =
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const SPACES = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';

/** Words with one character in front, numbers in the given form, symbols with the line breaks after them, white space. */
const wordPattern = (letters: string, numbers: string, notSymbols: string) =>
  `[^\\r\\n\\p{L}\\p{N}]?${letters}+|${numbers}| ?[^\\s${notSymbols}]+[\\r\\n]*|${SPACES}`;

const LETTER = '\\p{L}';
const WORD_CHARACTERS = '\\p{L}\\p{N}';

export const LLAMA3_PATTERN = `${CONTRACTIONS}|${wordPattern(LETTER, '\\p{N}{1,3}', WORD_CHARACTERS)}`;
export const QWEN2_PATTERN = `${CONTRACTIONS}|${wordPattern(LETTER, '\\p{N}', WORD_CHARACTERS)}`;
/** Combining marks belong to the words. */
export const QWEN35_PATTERN = `${CONTRACTIONS}|${wordPattern('[\\p{L}\\p{M}]', '\\p{N}', '\\p{L}\\p{M}\\p{N}')}`;
export const SEED_CODER_PATTERN = `${CONTRACTIONS}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|${SPACES}`;

const UPPER = '\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}';
const LOWER = '\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}';

/** Words end where a lower-case letter is followed by an upper-case one. */
const casedWords = (upper: string, lower: string, suffix: string) =>
  [
    `[^\\r\\n\\p{L}\\p{N}]?[${upper}]*[${lower}]+${suffix}`,
    `[^\\r\\n\\p{L}\\p{N}]?[${upper}]+[${lower}]*${suffix}`,
  ].join('|');
const casedWordPattern = (suffix: string, numbers: string) =>
  [casedWords(UPPER, LOWER, suffix), numbers, ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*', SPACES].join('|');

export const GPT_4O_PATTERN = casedWordPattern(`${CONTRACTIONS}?`, '\\p{N}{1,3}');
export const TEKKEN_PATTERN = casedWordPattern('', '\\p{N}');

const NOT_HAN = '&&[^\\p{Han}]';
/** Chinese characters are words of their own. */
export const KIMI_PATTERN = [
  '[\\p{Han}]+',
  casedWords(`${UPPER}${NOT_HAN}`, `${LOWER}${NOT_HAN}`, `${CONTRACTIONS}?`),
  '\\p{N}{1,3}',
  ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*',
  SPACES,
].join('|');

/** The alphabets with letter case. DeepSeek LLM has other expressions for Chinese, Japanese and Korean, and none for the rest. */
const CASED_LETTERS = [
  'A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af',
  '\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5',
  '\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba',
  '\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45',
  '\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2',
  '-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102',
  '\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-',
  '\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-',
  '\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-',
  '\ufb17\uff21-\uff3a\uff41-\uff5a\u{10400}-\u{1044f}\u{104b0}-\u{104d3}\u{104d8}-\u{104fb}',
  '\u{10c80}-\u{10cb2}\u{10cc0}-\u{10cf2}\u{118a0}-\u{118df}\u{1e900}-\u{1e943}',
].join('');

export const DEEPSEEK_LLM_PATTERNS = [
  '[\\r\\n]',
  `\\s?[${CASED_LETTERS}]+`,
  '\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+',
  '\\s+$',
  '[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+',
] as const;

export const DEEPSEEK_CODER_PATTERNS = [
  '[\\r\\n]',
  '\\s?\\p{L}+',
  '\\s?\\p{P}+',
  '[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+',
] as const;

const DEEPSEEK_V3_WORDS = `[!"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_\`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|${SPACES}`;

export const DEEPSEEK_V3_PATTERNS = [
  '\\p{N}{1,3}',
  '[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+',
  DEEPSEEK_V3_WORDS,
] as const;

/** Digits in groups of three from the right: the first group has the rest. */
export const GROUPED_DIGITS_PATTERN = '\\d{1,3}(?=(?:\\d{3})*\\b)';

/** Scripts without spaces between words. */
const UNSPACED_SCRIPTS = [
  '\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e00-\u0e7f',
  '\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff',
].join('');

export const AFMOE_PATTERNS = [
  '\\p{N}{1,3}(?=(?:\\p{N}{3})*(?!\\p{N}))',
  `[${UNSPACED_SCRIPTS}]+`,
  DEEPSEEK_V3_WORDS,
] as const;

/** Punctuation is a word of its own, and a run of it is one word. */
export const PUNCTUATION_PATTERN = '[\\p{P}$+<=>^~|`]+';
/** The same without the grave accent. */
export const DEFAULT_PUNCTUATION_PATTERN = '[\\p{P}$+<=>^~|]+';
export const THREE_DIGITS_PATTERN = '[0-9][0-9][0-9]';
