// Quantisations that people bring and that are not read, and what reading them would need.

/** By `quant_method` of config.json. */
export const UNSUPPORTED_METHODS: Readonly<Record<string, string>> = {
  aqlm: 'additive codebooks, which no format of the kernels holds',
  'auto-round':
    'the names of its own for the packings of GPTQ and AWQ; export it in the format auto_gptq or auto_awq',
  bitnet: 'ternary weights and activations of BitLinear layers',
  bitblas: 'the layout of its GPU kernels; the GPTQ checkpoint that it was made from is read',
  bitsandbytes:
    'the codebooks and nested scales of NF4 and LLM.int8; quantise the original weights here instead',
  eetq: 'the layout of its GPU kernels',
  exl2: 'bits that change inside a matrix',
  exl3: 'trellis codebooks',
  fp_quant: 'MXFP4 and NVFP4 after Hadamard transforms of activations',
  gguf: 'nothing but the GGUF file itself: name it instead of the folder',
  higgs: 'codebooks after Hadamard transforms of activations',
  hqq: 'float zero points in its own archive',
  marlin: 'the layout of its GPU kernels; the GPTQ checkpoint that it was made from is read',
  modelopt: 'its own names and the layout of NVFP4; FP8 of compressed-tensors is read',
  modelopt_fp4: 'NVFP4: scales in FP8 for each 16 inputs',
  quanto: 'its own packing; quantise the original weights here instead',
  quark: 'its own layouts; export it with the AWQ or GPTQ layout',
  quip: 'lattice codebooks after Hadamard transforms of activations',
  spqr: 'sparse outliers beside the matrix',
  torchao: 'tensors that are stored as Python objects',
  vptq: 'vector codebooks',
};

/** By `format` of compressed-tensors. */
export const UNSUPPORTED_FORMATS: Readonly<Record<string, string>> = {
  'marlin-24': 'two of four weights being zero, in the layout of its GPU kernels',
  'mxfp4-pack-quantized': 'MXFP4: a power of two for each 32 inputs; a GGUF file in MXFP4 is read',
  'mxfp6-pack-quantized': 'MXFP6: six-bit floats with a power of two for each 32 inputs',
  'mxfp8-quantized': 'MXFP8: a power of two for each 32 inputs',
  'nvfp4-pack-quantized': 'NVFP4: scales in FP8 for each 16 inputs',
  'sparse-24-bitmask': 'two of four weights being zero',
  'sparse-bitmask': 'a bit mask of the weights that are not zero',
};
