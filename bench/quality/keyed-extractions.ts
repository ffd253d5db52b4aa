// Facts to extract from a text as JSON, with the right answers: five schemas as callers write them, six texts of one or two
// sentences each. They run as `strict` constraints. A change of them makes earlier results incomparable.

import { type Extraction, extractionPrompt } from './extractions.ts';

export interface KeyedExtraction extends Extraction {
  /** The right value of each property. */
  readonly key: Readonly<Record<string, unknown>>;
}

const text = { type: 'string' };
const integer = { type: 'integer' };
const number = { type: 'number' };
const date = { type: 'string', format: 'date' };

const person = (name: string, age: number, city: string, birthday: string) => ({ name, age, city, birthday });
const invoice = (customer: string, date: string, total: number, currency: string, paid: boolean) => ({
  customer,
  date,
  total,
  currency,
  paid,
});
const meeting = (
  topic: string,
  date: string,
  participants: readonly string[],
  room: readonly [string, number],
) => ({
  topic,
  date,
  participants,
  room: { building: room[0], floor: room[1] },
});
const product = (
  name: string,
  category: string,
  price: number,
  weight: number,
  colors: readonly string[],
) => ({
  name,
  category,
  price,
  weight,
  colors,
});
const recipe = (
  dish: string,
  servings: number,
  ...ingredients: readonly (readonly [string, number, string])[]
) => ({
  dish,
  servings,
  ingredients: ingredients.map(([name, amount, unit]) => ({ name, amount, unit })),
});

/** Two of the schemas forbid other properties, the others do not mention them. */
const KINDS: readonly {
  readonly name: string;
  readonly schema: object;
  readonly texts: readonly (readonly [source: string, key: KeyedExtraction['key']])[];
}[] = [
  {
    name: 'person',
    schema: objectOf({ name: text, age: integer, city: text, birthday: date }),
    texts: [
      [
        'Clara Weber is 42 years old and lives in Hamburg. Her birthday is 1983-05-17.',
        person('Clara Weber', 42, 'Hamburg', '1983-05-17'),
      ],
      [
        'Born on 1996-11-02, the 29-year-old cellist Jonas Lind lives in Malmö.',
        person('Jonas Lind', 29, 'Malmö', '1996-11-02'),
      ],
      [
        'Sofia Rossi, aged 8, goes to school in Turin. She was born on 2017-03-30.',
        person('Sofia Rossi', 8, 'Turin', '2017-03-30'),
      ],
      [
        'The engineer Ravi Menon (born 1970-01-09) is 55 and works from his home in Kochi.',
        person('Ravi Menon', 55, 'Kochi', '1970-01-09'),
      ],
      [
        'In Quebec we met Louise Tremblay, who is 101 years old; her date of birth is 1924-08-21.',
        person('Louise Tremblay', 101, 'Quebec', '1924-08-21'),
      ],
      [
        'Tom Baker lives in Leeds and turned 36 on his birthday. He was born on 1989-10-04.',
        person('Tom Baker', 36, 'Leeds', '1989-10-04'),
      ],
    ],
  },
  {
    name: 'invoice',
    schema: {
      ...objectOf({
        customer: text,
        date,
        total: number,
        currency: { enum: ['EUR', 'USD', 'GBP'] },
        paid: { type: 'boolean' },
      }),
      additionalProperties: false,
    },
    texts: [
      [
        'Invoice to Green Garden Ltd of 2025-02-11: 349.50 EUR, already paid.',
        invoice('Green Garden Ltd', '2025-02-11', 349.5, 'EUR', true),
      ],
      [
        'On 2024-12-30 we billed Harbor Hotel 1280 USD. The invoice has not been paid.',
        invoice('Harbor Hotel', '2024-12-30', 1280, 'USD', false),
      ],
      [
        'Oak School received an invoice of 75.25 GBP on 2025-06-01 and paid it at once.',
        invoice('Oak School', '2025-06-01', 75.25, 'GBP', true),
      ],
      [
        'The invoice for Nord Shipping is dated 2023-09-15. It is unpaid and amounts to 19999.99 EUR.',
        invoice('Nord Shipping', '2023-09-15', 19999.99, 'EUR', false),
      ],
      [
        'Dated 2025-07-07, the invoice to Blue Cafe over 42 USD was paid.',
        invoice('Blue Cafe', '2025-07-07', 42, 'USD', true),
      ],
      [
        'We still wait for 610.80 GBP from Tower Books; their invoice is of 2025-01-20.',
        invoice('Tower Books', '2025-01-20', 610.8, 'GBP', false),
      ],
    ],
  },
  {
    name: 'meeting',
    schema: objectOf({
      topic: text,
      date,
      participants: { type: 'array', items: text },
      room: objectOf({ building: text, floor: integer }),
    }),
    texts: [
      [
        'The budget meeting with Anna and Ben is on 2025-03-14, in building North, floor 2.',
        meeting('budget', '2025-03-14', ['Anna', 'Ben'], ['North', 2]),
      ],
      [
        'Carlos, Dina and Emil discuss hiring on 2025-04-02. They meet on floor 5 of building Alpha.',
        meeting('hiring', '2025-04-02', ['Carlos', 'Dina', 'Emil'], ['Alpha', 5]),
      ],
      [
        'On 2025-11-20, Fatou and George talk about security in building Oak on floor 1.',
        meeting('security', '2025-11-20', ['Fatou', 'George'], ['Oak', 1]),
      ],
      [
        'Please book building River, floor 12, for the marketing meeting of Hana, Igor and Jean on 2026-01-08.',
        meeting('marketing', '2026-01-08', ['Hana', 'Igor', 'Jean'], ['River', 12]),
      ],
      [
        'Kim will present the roadmap to Leo on 2025-09-30. The meeting is in building Main on floor 3.',
        meeting('roadmap', '2025-09-30', ['Kim', 'Leo'], ['Main', 3]),
      ],
      [
        'The training with Maya, Noah, Olga and Pia takes place on 2025-05-06 in building East, floor 4.',
        meeting('training', '2025-05-06', ['Maya', 'Noah', 'Olga', 'Pia'], ['East', 4]),
      ],
    ],
  },
  {
    name: 'product',
    schema: {
      ...objectOf({
        name: text,
        category: { enum: ['clothing', 'electronics', 'furniture', 'toys'] },
        price: number,
        weight: number,
        colors: { type: 'array', items: text },
      }),
      additionalProperties: false,
    },
    texts: [
      [
        'The Comet lamp costs 39.90, weighs 1.2 kg and comes in white and black. You find it under furniture.',
        product('Comet', 'furniture', 39.9, 1.2, ['white', 'black']),
      ],
      [
        'Our Breeze jacket in red, green and blue is clothing for every day: 0.4 kg, price 85.',
        product('Breeze', 'clothing', 85, 0.4, ['red', 'green', 'blue']),
      ],
      [
        'The Pixel radio (electronics) is available in silver. It weighs 0.75 kg and costs 129.',
        product('Pixel', 'electronics', 129, 0.75, ['silver']),
      ],
      [
        'For 14.99 you get the toy train Rocky in yellow and orange, with a weight of 0.6 kg.',
        product('Rocky', 'toys', 14.99, 0.6, ['yellow', 'orange']),
      ],
      [
        'Furniture of the week: the Bergen table, brown or grey, 22.5 kg, now 249.',
        product('Bergen', 'furniture', 249, 22.5, ['brown', 'grey']),
      ],
      [
        'The Echo headphones are electronics at their best. They cost 59.5, weigh 0.25 kg and are black, white or pink.',
        product('Echo', 'electronics', 59.5, 0.25, ['black', 'white', 'pink']),
      ],
    ],
  },
  {
    name: 'recipe',
    schema: objectOf({
      dish: text,
      servings: integer,
      ingredients: {
        type: 'array',
        items: objectOf({ name: text, amount: number, unit: { enum: ['g', 'ml', 'piece'] } }),
      },
    }),
    texts: [
      [
        'Tomato soup for 4: take 800 g tomatoes and 500 ml stock.',
        recipe('Tomato soup', 4, ['tomatoes', 800, 'g'], ['stock', 500, 'ml']),
      ],
      [
        'The omelette serves 2 and needs 4 pieces of egg, 50 ml milk and 20 g butter.',
        recipe('omelette', 2, ['egg', 4, 'piece'], ['milk', 50, 'ml'], ['butter', 20, 'g']),
      ],
      [
        'Granola for 6 people is made of 300 g oats and 90 g honey.',
        recipe('Granola', 6, ['oats', 300, 'g'], ['honey', 90, 'g']),
      ],
      [
        'A banana shake for 1 person: 2 pieces of banana and 250 ml milk.',
        recipe('banana shake', 1, ['banana', 2, 'piece'], ['milk', 250, 'ml']),
      ],
      [
        'Mix 200 g flour, 300 ml milk and 2 pieces of egg, and you have pancakes for 3.',
        recipe('pancakes', 3, ['flour', 200, 'g'], ['milk', 300, 'ml'], ['egg', 2, 'piece']),
      ],
      [
        'Rice pudding serves 5. You need 150 g rice, 1000 ml milk and 60 g sugar.',
        recipe('Rice pudding', 5, ['rice', 150, 'g'], ['milk', 1000, 'ml'], ['sugar', 60, 'g']),
      ],
    ],
  },
];

export const KEYED_EXTRACTIONS: readonly KeyedExtraction[] = KINDS.flatMap(({ name, schema, texts }) =>
  texts.map(([source, key], index) => ({
    name: `${name} ${index + 1}`,
    prompt: extractionPrompt(source, Object.keys(key)),
    schema,
    key,
  })),
);

function objectOf(properties: Readonly<Record<string, unknown>>) {
  return { type: 'object', properties, required: Object.keys(properties) };
}
