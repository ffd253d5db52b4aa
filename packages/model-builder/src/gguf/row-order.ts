// The order of rows in matrices of queries and keys.
//
// llama.cpp's `llama` rotates neighbouring rows of a head, `(2i, 2i + 1)`; a checkpoint, and our graphs, rotate rows half a head
// apart, `(i, i + half)`. So conversion to GGUF moves the rows of each head, and reading moves them back:
//
//   row  h * size + p * half + i   of the checkpoint   is   row  h * size + 2i + p   of the file,   p = 0, 1
//
// Source: llama.cpp, convert_hf_to_gguf.py (LlamaModel.permute).

/** The row of the file that is row `row` of the checkpoint. */
export function rowInFile(row: number, headSize: number): number {
  const inside = row % headSize;
  const half = headSize / 2;
  return row - inside + 2 * (inside % half) + Math.floor(inside / half);
}

/** Whole heads that hold the rows `[first, first + count)`. */
export function headsAround(first: number, count: number, headSize: number) {
  const begin = first - (first % headSize);
  const end = Math.ceil((first + count) / headSize) * headSize;
  return { begin, count: end - begin };
}
