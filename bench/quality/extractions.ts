// Facts to extract from a text as JSON: six schemas as callers write them, five texts each. A change of them makes earlier
// results incomparable.

export interface Extraction {
  readonly name: string;
  readonly prompt: string;
  readonly schema: unknown;
}

const text = { type: 'string' };
const integer = { type: 'integer' };
const texts = { type: 'array', items: text };

/** Half of the schemas forbid other properties; in the other half the model may invent some. */
const KINDS = [
  {
    name: 'person',
    ...objectOf({ name: text, age: integer, city: text, occupation: text }),
    texts: [
      'Maria Silva is a 34-year-old nurse from Lisbon who spends her weekends surfing.',
      'At 71, the retired judge Henry Cole still walks five miles through York every morning.',
      'Our new colleague Aiko Tanaka, a software engineer of 27, has just moved to Osaka.',
      'The winner was 19-year-old student Pavel Novak, who lives in Brno with his grandparents.',
      'Fatima Hassan has run a bakery in Cairo since she was 22; last week she turned 50.',
    ],
  },
  {
    name: 'order',
    ...objectOf({ product: text, quantity: integer, price: { type: 'number' }, currency: text }),
    additionalProperties: false,
    texts: [
      'I would like to order three desk lamps at 24.99 euros each.',
      'Please send us 12 boxes of printer paper; your offer was 31.50 dollars per box.',
      'We need two replacement filters, which cost 8.75 pounds apiece.',
      'Can you deliver 40 folding chairs by Friday? The price we agreed on is 17 euros a chair.',
      'One winter jacket in size L, please, for 119.90 dollars as shown in your shop.',
    ],
  },
  {
    name: 'event',
    ...objectOf({ title: text, date: text, place: text, participants: texts }),
    texts: [
      'The budget review takes place on 14 March in room 204. Anna, Ben and Carla will be there.',
      'On 2 July, Omar and Lena are getting married at the town hall of Bremen.',
      'Book club: Thursday, 9 November, at the library. So far Ruth, Ivan and Mei have signed up.',
      'Dr. Patel and Professor Lund will speak at the climate workshop in Oslo on 21 May.',
      'The chess final between Viktor and Samira is on 30 August in the garden of the museum.',
    ],
  },
  {
    name: 'review',
    ...objectOf({
      sentiment: { enum: ['positive', 'negative', 'mixed'] },
      rating: { type: 'integer', minimum: 1, maximum: 5 },
      reasons: { type: 'array', items: text, maxItems: 4 },
    }),
    additionalProperties: false,
    texts: [
      'The headphones sound wonderful and the battery lasts for days. Best purchase this year!',
      'It broke after a week, and nobody answered my mails. I want my money back.',
      'Nice hotel near the beach, but the walls are thin and breakfast was cold.',
      'Solid bicycle for the price. The brakes squeak a little, otherwise I am happy.',
      'The book starts slowly, the characters are flat and the ending makes no sense.',
    ],
  },
  {
    name: 'journey',
    ...objectOf({
      from: text,
      to: text,
      departure: { type: 'string', pattern: '^[0-2][0-9]:[0-5][0-9]$' },
      isDirect: { type: 'boolean' },
    }),
    texts: [
      'The train from Vienna to Prague leaves at 08:10 and gets there without a change.',
      'To reach Porto from Madrid, take the bus at 22:30; you change once in Salamanca.',
      'Flight 418 goes straight from Toronto to Dublin and departs at 19:45.',
      'The ferry leaves Athens at 07:25 and calls at two islands, where you change for Rhodes.',
      'There is a direct coach from Leeds to London at 06:00 every working day.',
    ],
  },
  {
    name: 'recipe',
    ...objectOf({
      dish: text,
      minutes: integer,
      ingredients: { type: 'array', items: objectOf({ name: text, amount: text }) },
    }),
    additionalProperties: false,
    texts: [
      'For tomato soup, simmer 800 grams of tomatoes, one onion and 500 ml of stock for 25 minutes.',
      'Scrambled eggs take five minutes: beat three eggs with two spoons of milk and a pinch of salt.',
      'Mix 200 grams of oats, 50 grams of honey and a handful of nuts, and bake the granola for 20 minutes.',
      'The potato salad needs one kilogram of potatoes, two pickles and 150 grams of yoghurt, and is ready in 40 minutes.',
      'Blend two bananas, 300 ml of milk and a spoon of cocoa: after three minutes the shake is done.',
    ],
  },
];

export const EXTRACTIONS: readonly Extraction[] = KINDS.flatMap(({ name, texts: sources, ...schema }) =>
  sources.map((source, index) => ({
    name: `${name} ${index + 1}`,
    prompt: extractionPrompt(source, Object.keys(schema.properties)),
    schema,
  })),
);

export function extractionPrompt(source: string, names: readonly string[]): string {
  return `Extract the facts from the text as a JSON object with the keys ${names.join(', ')}.\n\nText: ${source}`;
}

function objectOf<Properties extends Readonly<Record<string, unknown>>>(properties: Properties) {
  return { type: 'object', properties, required: Object.keys(properties) };
}
