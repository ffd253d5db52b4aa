import { ortler } from '@ortler/ai-sdk-provider';
import { createEngine } from '@ortler/engine';
import { generateText } from 'ai';

await using engine = await createEngine({ modelDir: './model' });
const { text } = await generateText({ model: ortler(engine), prompt: 'What is the capital of France?' });
console.log(text);
