// The architectures that can be built, by the `model_type` of config.json.

import { arcee } from './arcee.ts';
import type { Architecture } from './architecture.ts';
import { cohere2 } from './cohere2.ts';
import { deepseekV2, deepseekV3, glm4MoeLite, kimiK2 } from './deepseek.ts';
import { ernie, ernieMoe } from './ernie.ts';
import { exaone4 } from './exaone4.ts';
import { falconH1 } from './falcon-h1.ts';
import { gemma, gemma2, gemma3 } from './gemma.ts';
import { gemma4 } from './gemma4.ts';
import { glm4 } from './glm4.ts';
import { glm4Moe } from './glm4-moe.ts';
import { gptOss } from './gpt-oss.ts';
import { granite, graniteHybrid, graniteMoe, graniteMoeShared } from './granite.ts';
import { hunyuan, hunyuanMoe } from './hunyuan.ts';
import { lfm2, lfm2Moe } from './lfm2.ts';
import { llama } from './llama.ts';
import { minicpm3 } from './minicpm3.ts';
import { ministral3, mistral } from './mistral.ts';
import { mixtral } from './mixtral.ts';
import { nemotron } from './nemotron.ts';
import { nemotronH } from './nemotron-h.ts';
import { olmo2, olmo3 } from './olmo.ts';
import { olmoe } from './olmoe.ts';
import { phi3 } from './phi3.ts';
import { qwen2 } from './qwen2.ts';
import { qwen2Moe } from './qwen2-moe.ts';
import { qwen3 } from './qwen3.ts';
import { qwen3_5, qwen3_5Moe } from './qwen3-5.ts';
import { qwen3Moe } from './qwen3-moe.ts';
import { qwen3Next } from './qwen3-next.ts';
import { seedOss } from './seed-oss.ts';
import { smollm3 } from './smollm3.ts';
import { starcoder2 } from './starcoder2.ts';

export const ARCHITECTURES: ReadonlyMap<string, Architecture> = new Map(
  [
    arcee,
    cohere2,
    deepseekV2,
    deepseekV3,
    ernie,
    ernieMoe,
    exaone4,
    falconH1,
    gemma,
    gemma2,
    gemma3,
    gemma4,
    glm4,
    glm4Moe,
    glm4MoeLite,
    gptOss,
    granite,
    graniteHybrid,
    graniteMoe,
    graniteMoeShared,
    hunyuan,
    hunyuanMoe,
    kimiK2,
    lfm2,
    lfm2Moe,
    llama,
    minicpm3,
    ministral3,
    mistral,
    mixtral,
    nemotron,
    nemotronH,
    olmo2,
    olmo3,
    olmoe,
    phi3,
    qwen2,
    qwen2Moe,
    qwen3,
    qwen3Moe,
    qwen3Next,
    qwen3_5,
    qwen3_5Moe,
    seedOss,
    smollm3,
    starcoder2,
  ].map(architecture => [architecture.modelType, architecture]),
);
