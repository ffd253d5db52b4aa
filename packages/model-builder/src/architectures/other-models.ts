// Model types that people bring and that are not built: what they are called, and what they would need. `docs/models.md` and the
// refusal of a model type are made of this table.

export interface OtherModel {
  /** Families and models by the names that people know. */
  readonly names: string;
  /** What building it would need. */
  readonly needs: string;
}

// Kinds of layers that are built for other families.
const EXPERTS = 'support for its mixture of experts (MoE)';
const LATENT = 'support for its latent attention (MLA)';
const RECURRENT = 'support for its recurrent layers';
const LATENT_EXPERTS = `${LATENT}; ${EXPERTS}`;
const RECURRENT_EXPERTS = `${RECURRENT}; ${EXPERTS}`;
const ENCODER_DECODER = 'an encoder, and attention to what it read';
const EMBEDDINGS = 'an interface for embeddings or labels: such models generate no text';
const IMAGES = 'inputs of images, audio or video; its text part is not read';
const NO_TEXT = 'an interface for images, audio or other data: such models generate no text';
const DENOISING = 'text by denoising all positions at once, not token by token';
const LEARNED_POSITIONS = 'learned or ALiBi positions, and LayerNorm with biases';
const OWN_LAYOUT = 'its own layout of weights, which Python code of its repository defines';
const PARTIAL_ROTARY = 'rotation of a part of each head';

const of = (names: string, needs: string): OtherModel => ({ names, needs });

/** By `model_type`. */
export const OTHER_MODELS: Readonly<Record<string, OtherModel>> = {
  // Decoders.
  apertus: of('Apertus', 'the activation xIELU'),
  baichuan: of('Baichuan 1 and 2', OWN_LAYOUT),
  bitnet: of('BitNet b1.58', 'ternary weights, norms inside attention and MLP, squared ReLU'),
  bloom: of('BLOOM', LEARNED_POSITIONS),
  chatglm: of('ChatGLM 2 and 3, GLM-4 of 2024', OWN_LAYOUT),
  codegen: of('CodeGen', LEARNED_POSITIONS),
  cohere: of('Command R', 'LayerNorm of query and key heads'),
  diffllama: of('DiffLlama', 'differential attention'),
  exaone: of('EXAONE 3 and 3.5', OWN_LAYOUT),
  falcon: of('Falcon 7B, 40B, 11B', 'parallel attention and MLP with LayerNorm and fused projections'),
  gemma3n: of('Gemma 3n', 'per-layer embeddings, caches shared by layers, AltUp and LAuReL'),
  gemma3n_text: of('Gemma 3n', 'per-layer embeddings, caches shared by layers, AltUp and LAuReL'),
  glm: of('GLM-4 9B, GLM-Edge', `${PARTIAL_ROTARY}, interleaved; fused projections`),
  gpt2: of('GPT-2, DistilGPT2', LEARNED_POSITIONS),
  gpt_bigcode: of('StarCoder, SantaCoder', LEARNED_POSITIONS),
  gpt_neo: of('GPT-Neo', LEARNED_POSITIONS),
  gpt_neox: of('Pythia, GPT-NeoX, Dolly', `${PARTIAL_ROTARY}; LayerNorm with biases, fused projections`),
  gptj: of('GPT-J', `${PARTIAL_ROTARY}; LayerNorm with biases`),
  helium: of('Helium', 'interleaved rotation'),
  internlm2: of('InternLM 2 and 2.5', OWN_LAYOUT),
  internlm3: of('InternLM 3', OWN_LAYOUT),
  minicpm: of('MiniCPM 1 and 2', 'scales of embedding, depth and logits'),
  mpt: of('MPT', LEARNED_POSITIONS),
  olmo: of('OLMo 1', 'LayerNorm without weights'),
  opt: of('OPT, Galactica', LEARNED_POSITIONS),
  persimmon: of('Persimmon', `${PARTIAL_ROTARY}, LayerNorm, squared ReLU`),
  phi: of('Phi-1, 1.5 and 2', `parallel attention and MLP with LayerNorm, ${PARTIAL_ROTARY}`),
  phi3small: of('Phi-3 Small', 'block-sparse attention'),
  qwen: of('Qwen 1', OWN_LAYOUT),
  stablelm: of('StableLM', `${PARTIAL_ROTARY}, LayerNorm`),
  xglm: of('XGLM', LEARNED_POSITIONS),

  // Mixtures of experts.
  bailing_moe: of('Ling, Ring', EXPERTS),
  dbrx: of('DBRX', EXPERTS),
  deepseek: of('DeepSeek-MoE', EXPERTS),
  dots1: of('dots.llm1', EXPERTS),
  flex_olmo: of('FlexOlmo', EXPERTS),
  jetmoe: of('JetMoE', EXPERTS),
  llama4: of('Llama 4 Scout and Maverick', EXPERTS),
  llama4_text: of('Llama 4 Scout and Maverick', EXPERTS),
  minimax_m2: of('MiniMax-M2', EXPERTS),
  phimoe: of('Phi-3.5-MoE', EXPERTS),

  // Multi-head latent attention.
  deepseek_v32: of('DeepSeek-V3.2', 'sparse attention with an indexer (DSA)'),
  kimi_linear: of('Kimi Linear', `${LATENT_EXPERTS}; ${RECURRENT}`),
  longcat_flash: of('LongCat-Flash', LATENT_EXPERTS),

  // Recurrent layers.
  bamba: of('Bamba', RECURRENT),
  falcon_mamba: of('Falcon Mamba', RECURRENT),
  jamba: of('Jamba', RECURRENT_EXPERTS),
  mamba: of('Mamba', RECURRENT),
  mamba2: of('Mamba 2, Codestral Mamba', RECURRENT),
  minimax: of('MiniMax-Text-01', RECURRENT_EXPERTS),
  recurrent_gemma: of('RecurrentGemma', RECURRENT),
  rwkv: of('RWKV-4', RECURRENT),
  rwkv7: of('RWKV-7', RECURRENT),
  zamba: of('Zamba', RECURRENT),
  zamba2: of('Zamba 2', RECURRENT),

  // Encoders and decoders.
  bart: of('BART', ENCODER_DECODER),
  encoder_decoder: of('pairs of an encoder and a decoder', ENCODER_DECODER),
  led: of('LED', ENCODER_DECODER),
  m2m_100: of('M2M-100, NLLB', ENCODER_DECODER),
  marian: of('Opus-MT', ENCODER_DECODER),
  mbart: of('mBART', ENCODER_DECODER),
  moonshine: of('Moonshine', `${ENCODER_DECODER}; inputs of audio`),
  mt5: of('mT5', ENCODER_DECODER),
  pegasus: of('PEGASUS', ENCODER_DECODER),
  t5: of('T5, Flan-T5', ENCODER_DECODER),
  t5gemma: of('T5Gemma', ENCODER_DECODER),
  umt5: of('UMT5', ENCODER_DECODER),
  whisper: of('Whisper', `${ENCODER_DECODER}; inputs of audio`),

  // Models of text and images, audio or video.
  gemma4_unified: of('Gemma 4 12B', IMAGES),
  glm4v: of('GLM-4.1V', IMAGES),
  idefics3: of('Idefics 3', IMAGES),
  internvl: of('InternVL 3', IMAGES),
  internvl_chat: of('InternVL 2 and 2.5', IMAGES),
  kimi_vl: of('Kimi-VL', `${IMAGES}; ${LATENT_EXPERTS}`),
  lfm2_vl: of('LFM2-VL', IMAGES),
  llava: of('LLaVA 1.5, Pixtral', IMAGES),
  llava_next: of('LLaVA 1.6', IMAGES),
  llava_onevision: of('LLaVA-OneVision', IMAGES),
  minicpmv: of('MiniCPM-V', IMAGES),
  mllama: of('Llama 3.2 Vision', `attention to images; ${IMAGES}`),
  paligemma: of('PaliGemma', IMAGES),
  phi3_v: of('Phi-3 and 3.5 Vision', IMAGES),
  phi4mm: of('Phi-4-multimodal', IMAGES),
  qwen2_5_omni: of('Qwen2.5-Omni', IMAGES),
  qwen2_5_vl: of('Qwen2.5-VL', IMAGES),
  qwen2_audio: of('Qwen2-Audio', IMAGES),
  qwen2_vl: of('Qwen2-VL', IMAGES),
  qwen3_omni_moe: of('Qwen3-Omni', IMAGES),
  qwen3_vl: of('Qwen3-VL', IMAGES),
  qwen3_vl_moe: of('Qwen3-VL, MoE', IMAGES),
  smolvlm: of('SmolVLM', IMAGES),
  voxtral: of('Voxtral', IMAGES),

  // Embeddings and labels.
  albert: of('ALBERT', EMBEDDINGS),
  bert: of('BERT, BGE, E5, MiniLM, GTE', EMBEDDINGS),
  camembert: of('CamemBERT', EMBEDDINGS),
  'deberta-v2': of('DeBERTa 2 and 3', EMBEDDINGS),
  distilbert: of('DistilBERT', EMBEDDINGS),
  electra: of('ELECTRA', EMBEDDINGS),
  modernbert: of('ModernBERT', EMBEDDINGS),
  mpnet: of('MPNet, all-mpnet-base', EMBEDDINGS),
  nomic_bert: of('Nomic Embed', EMBEDDINGS),
  roberta: of('RoBERTa', EMBEDDINGS),
  'xlm-roberta': of('XLM-RoBERTa, BGE-M3, multilingual E5', EMBEDDINGS),

  // Images, audio and other data.
  bark: of('Bark', NO_TEXT),
  blip: of('BLIP', NO_TEXT),
  clip: of('CLIP', NO_TEXT),
  convnext: of('ConvNeXt', NO_TEXT),
  csm: of('CSM', NO_TEXT),
  detr: of('DETR', NO_TEXT),
  dia: of('Dia', NO_TEXT),
  dinov2: of('DINOv2', NO_TEXT),
  hubert: of('HuBERT', NO_TEXT),
  musicgen: of('MusicGen', NO_TEXT),
  resnet: of('ResNet', NO_TEXT),
  sam: of('Segment Anything', NO_TEXT),
  siglip: of('SigLIP', NO_TEXT),
  speecht5: of('SpeechT5', NO_TEXT),
  swin: of('Swin', NO_TEXT),
  vit: of('ViT', NO_TEXT),
  vits: of('VITS, MMS-TTS', NO_TEXT),
  wav2vec2: of('Wav2Vec 2', NO_TEXT),

  // Text by diffusion.
  Dream: of('Dream', DENOISING),
  llada: of('LLaDA', DENOISING),
};

/** Continues "is": a value in quotes, with the names of the model and what it would need where that is known. */
export function describeOther(value: unknown, modelType: unknown = value): string {
  const shown = typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'absent');
  if (typeof modelType !== 'string' || !Object.hasOwn(OTHER_MODELS, modelType)) return shown;
  const { names, needs } = OTHER_MODELS[modelType]!;
  return `${shown} (${names}), which would need ${needs}`;
}
