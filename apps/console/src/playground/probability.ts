// How probabilities are shown: as a number, and as the strength of a colour.

/** Probability of a log probability, 0 to 1. */
export function toProbability(logprob: number): number {
  return Math.min(1, Math.exp(logprob));
}

/** In percent, with as many digits as tell small ones apart: `99.9%`, `3.2%`, `0.04%`, `<0.001%`. */
export function formatProbability(logprob: number): string {
  const percent = toProbability(logprob) * 100;
  if (percent < 0.001) return '<0.001%';
  if (percent >= 99.95) return percent >= 99.9995 ? '100%' : `${percent.toFixed(3)}%`;
  return `${percent >= 1 ? percent.toFixed(1) : percent.toPrecision(1)}%`;
}

/** Note on the token that ends an answer. */
export const END_NOTE = 'ends the answer; not part of its text';

/** Perplexity of tokens: the exponential of their mean negative log probability. Null without tokens. */
export function perplexityOf(tokens: readonly { readonly logprob: number }[]): number | null {
  if (tokens.length === 0) return null;
  const sum = tokens.reduce((total, { logprob }) => total + logprob, 0);
  return Math.exp(-sum / tokens.length);
}

/** A token's text with what cannot be seen made visible. Bytes of a broken character come as an empty text. */
export function visibleText(text: string): string {
  if (text === '') return '∅';
  return text.replaceAll('\n', '↵').replaceAll('\t', '⇥').replaceAll(' ', '·');
}
