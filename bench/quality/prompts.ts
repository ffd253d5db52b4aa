// The fixed prompts of the benchmark, on varied subjects. A change of them makes earlier results incomparable.

/** Answered greedily, to be compared with the answers of the reference. */
export const PROMPTS: readonly string[] = [
  'What is the capital of Australia, and why was it chosen?',
  'Explain to a child why the sky is blue.',
  'Write a short poem about a lighthouse in winter.',
  'Give me a recipe for pancakes with three ingredients.',
  'What is the difference between a list and a tuple in Python?',
  'Summarise the plot of Romeo and Juliet in two sentences.',
  'How many minutes are there in a week? Show the calculation.',
  'Name five animals that live in the desert and one fact about each.',
  'Write a polite email to a colleague to move a meeting from Monday to Tuesday.',
  'Why do ships made of steel float?',
  'Translate "Good morning, how are you?" into French and Spanish.',
  'List the advantages and disadvantages of working from home.',
];
